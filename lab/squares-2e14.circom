// 16,381 squarings and two rows for the output: with fflonk's two free rows, the domain is 2^14.
pragma circom 2.0.0;
template Squares(count) {
    signal input first;
    signal output last;
    signal powers[count];
    powers[0] <== first * first;
    for (var i = 1; i < count; i++) {
        powers[i] <== powers[i - 1] * powers[i - 1];
    }
    last <== powers[count - 1];
}
component main = Squares(16381);
