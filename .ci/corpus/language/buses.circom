pragma circom 2.2.0;

bus Point() {
    signal x;
    signal {binary} y;
}

bus Path(n) {
    Point() points[n];
    signal length;
}

template Moved() {
    input Point() from;
    signal input by;
    output Point() to;
    to.x <== from.x + by * by;
    to.y <== from.y;
}

// Moves each point of a path by its length.
template Buses(n) {
    input Path(n) path;
    output Path(n) moved;
    component steps[n];
    for (var i = 0; i < n; i++) {
        steps[i] = Moved();
        steps[i].from <== path.points[i];
        steps[i].by <== path.length * path.points[i].x;
        moved.points[i] <== steps[i].to;
    }
    moved.length <== path.length;
}

component main = Buses(3);
