pragma circom 2.0.0;

// Components in arrays, of one template with several parameters, and a function with an assertion.
function successor(x) {
    assert(x != 13);
    return x + 1;
}

template Leaf(n) {
    signal input x;
    signal output y;
    assert(x != 7);
    var next = successor(x);
    y <== x * x + n * next;
}

template Branch() {
    signal input x;
    signal output y;
    component leaves[3];
    for (var i = 0; i < 3; i++) {
        leaves[i] = Leaf(i);
        leaves[i].x <== x + i * i;
    }
    component last = Leaf(1);
    last.x <== leaves[0].y;
    y <== leaves[0].y * leaves[1].y + leaves[2].y + last.y;
}

template Components() {
    signal input a;
    signal input c[2];
    signal output product;
    component branches[2];
    for (var i = 0; i < 2; i++) {
        branches[i] = Branch();
        branches[i].x <== a + 100 * c[i];
    }
    product <== branches[0].y * branches[1].y;
}

component main = Components();
