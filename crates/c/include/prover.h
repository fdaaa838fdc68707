// What programs written for rapidsnark's prover.h include.
#include "proofmill.h"
