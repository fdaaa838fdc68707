pragma circom 2.0.0;

include "../membership.circom";

component main {public [scope]} = Membership(32, 91);
