#!/bin/sh
# A wrapper of rustc, needed for one crate: the AVX-512 code of boojum 0.32.11 passes byte pointers to gathers
# and scatters, which take element pointers since Rust 1.89. The wrapper compiles a copy of the crate with
# casts.
rustc=$1
shift
case " $* " in
*" --crate-name boojum "*)
    previous= out= count=$#
    for argument; do
        [ "$previous" = --out-dir ] && out=$argument
        previous=$argument
    done
    while [ "$count" -gt 0 ]; do
        argument=$1
        shift
        case $argument in
        */src/lib.rs)
            copy=$out/boojum-src
            rm -rf "$copy" && cp -R "${argument%/lib.rs}" "$copy" || exit
            sed -i 's/self\.0\.as_ptr() as \*\(const\|mut\) u8/self.0.as_ptr().cast_mut().cast()/' \
                "$copy/field/goldilocks/avx512_impl.rs" || exit
            argument=$copy/lib.rs
            ;;
        esac
        set -- "$@" "$argument"
        count=$((count - 1))
    done
    ;;
esac
exec "$rustc" "$@"
