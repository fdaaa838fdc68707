pragma circom 2.0.0;

// The same circuit, small enough for tests: 8 rounds are far too few to be secure.
include "../membership.circom";

component main {public [scope]} = Membership(2, 8);
