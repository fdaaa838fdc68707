// What programs written for rapidsnark's verifier.h include.
#include "proofmill.h"
