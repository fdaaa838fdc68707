# docker build --tag proofmill . && docker run --rm --volume "$PWD":/data proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json
#
# The image holds the static binary of scripts/release.sh and licences, nothing else.
FROM rust:1.95.0 AS build
WORKDIR /source
COPY . .
ARG SOURCE_DATE_EPOCH=0
RUN target=$(uname -m)-unknown-linux-musl \
    && rustup target add "$target" \
    && scripts/release.sh "$target" \
    && mkdir /image \
    && cp target/archives/proofmill-*-"$target"/proofmill target/archives/proofmill-*-"$target"/LICENSE* /image

FROM scratch
COPY --from=build /image /
WORKDIR /data
ENTRYPOINT ["/proofmill"]
