# docker build --tag proofmill . && docker run --rm --volume "$PWD":/data proofmill groth16 prove circuit.zkey witness.wtns proof.json public.json
# docker build --tag proofmill-server --target server .
# docker run --publish 127.0.0.1:6400:6400 --volume data:/data proofmill-server serve --data /data --listen 0.0.0.0:6400 --insecure-http
#
# The image of the prover holds the static binary of cargo xtask release and licences, nothing else; that of the service also holds
# proofmill-server and what it needs of Debian.
FROM rust:1.95.0-bookworm AS source
WORKDIR /source
COPY . .

FROM source AS service
RUN cargo build --locked --profile dist --package proofmill-cli --package proofmill-server \
    && mkdir /image \
    && cp target/dist/proofmill target/dist/proofmill-server /image

FROM debian:bookworm-slim AS server
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --home-dir /data proofmill
COPY --from=service /image /usr/local/bin/
COPY LICENSE-MIT LICENSE-APACHE /usr/local/share/proofmill/
USER proofmill
VOLUME /data
ENTRYPOINT ["proofmill"]
CMD ["serve", "--data", "/data"]

FROM source AS build
ARG SOURCE_DATE_EPOCH=0
RUN target=$(uname -m)-unknown-linux-musl \
    && rustup target add "$target" \
    && cargo xtask release "$target" \
    && mkdir /image \
    && cp target/archives/proofmill-*-"$target"/proofmill target/archives/proofmill-*-"$target"/LICENSE* /image

FROM scratch
COPY --from=build /image /
WORKDIR /data
ENTRYPOINT ["/proofmill"]
