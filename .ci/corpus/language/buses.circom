pragma circom 2.2.0;

bus Point() {
    signal x;
    signal y;
}

bus Path(n) {
    Point() points[n];
    signal length;
}

bus Marked() {
    Point() point;
    signal {binary} is_origin;
}

template Moved() {
    input Point() from;
    signal input by;
    output Marked() to;
    signal inverse;
    to.point.x <== from.x + by * by;
    to.point.y <== from.y;
    inverse <-- to.point.x != 0 ? 1 / to.point.x : 0;
    to.is_origin <== 1 - to.point.x * inverse;
    to.is_origin * to.point.x === 0;
}

// Moves each point of a path by its length.
template Buses(n) {
    input Path(n) path;
    output Path(n) moved;
    output Marked() last;
    component steps[n];
    for (var i = 0; i < n; i++) {
        steps[i] = Moved();
        steps[i].from <== path.points[i];
        steps[i].by <== path.length * path.points[i].x;
        moved.points[i] <== steps[i].to.point;
    }
    moved.length <== path.length;
    last <== steps[n - 1].to;
}

component main = Buses(3);
