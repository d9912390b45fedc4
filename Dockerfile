# Each program of Muster is a target: docker build --target coordination-api --tag muster/coordination-api .
# .dockerignore lists the files that reach a build. An image contains the bundle of tools/build/build-app.ts
# and Node.

# The version in .node-version.
ARG NODE_VERSION=24.21.0

# Bundles are independent of the platform, so they are built on the platform of the build machine.
FROM --platform=$BUILDPLATFORM node:${NODE_VERSION}-trixie-slim AS manifests
WORKDIR /build
COPY package.json package-lock.json ./
COPY apps apps
COPY libs libs
COPY tools/package.json tools/package.json
RUN find apps libs -type f -not -name package.json -delete && find apps libs -type d -empty -delete

# This layer contains only manifests, so the installed packages stay cached until a manifest changes. `COPY
# --parents` would do this in one line, but only BuildKit supports it.
FROM --platform=$BUILDPLATFORM node:${NODE_VERSION}-trixie-slim AS packages
WORKDIR /build
COPY --from=manifests /build ./
RUN --mount=type=cache,target=/root/.npm npm ci --ignore-scripts --no-audit --no-fund

FROM packages AS sources
COPY tsconfig.base.json ./
COPY tools/build tools/build
COPY libs libs

FROM sources AS build-coordination-api
COPY apps/coordination-api apps/coordination-api
RUN node tools/build/build-app.ts apps/coordination-api
# A volume takes its owner from the folder over which it is mounted.
RUN mkdir files

FROM sources AS build-delivery-worker
COPY apps/delivery-worker apps/delivery-worker
RUN node tools/build/build-app.ts apps/delivery-worker
# A volume takes its owner from the folder over which it is mounted.
RUN mkdir mail files

FROM sources AS build-mcp-gateway
COPY apps/mcp-gateway apps/mcp-gateway
RUN node tools/build/build-app.ts apps/mcp-gateway

FROM sources AS build-license-service
COPY apps/license-service apps/license-service
RUN node tools/build/build-app.ts apps/license-service

FROM sources AS build-docs
COPY apps/docs apps/docs
COPY docs docs
RUN node tools/build/build-app.ts apps/docs

FROM sources AS build-sign-in
COPY apps/sign-in apps/sign-in
RUN node tools/build/build-app.ts apps/sign-in
# A volume takes its owner from the folder over which it is mounted.
RUN mkdir mail

FROM sources AS build-console
COPY apps/console apps/console
RUN node tools/build/build-app.ts apps/console

FROM sources AS build-cli
COPY apps/cli apps/cli
COPY apps/runner apps/runner
RUN node tools/build/build-app.ts apps/cli

# Node for the platform on which the image will run.
FROM node:${NODE_VERSION}-trixie-slim AS node

# The libraries to which Node is linked, certificates, and no shell. User 65532 owns no files here.
FROM gcr.io/distroless/cc-debian13:nonroot AS program
COPY --from=node /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
# 16 MiB for young objects and two arenas for glibc take a third less memory under load and are no slower.
# Bundles have source maps, but Node does not load them, which would cost each process 75 MiB.
# NODE_OPTIONS=--enable-source-maps loads them.
ENV NODE_ENV=production MALLOC_ARENA_MAX=2
USER 65532:65532
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/node", "--max-semi-space-size=16", "main.js"]
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.vendor="Muster" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

FROM program AS service
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s --retries=3 \
  CMD ["/usr/local/bin/node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/livez').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]

FROM service AS coordination-api
LABEL org.opencontainers.image.title="coordination-api" \
      org.opencontainers.image.description="Every operation of Muster over HTTP"
ENV PORT=4100
EXPOSE 4100
COPY --from=build-coordination-api --chown=65532:65532 /build/files /files
COPY --from=build-coordination-api /build/dist/apps/coordination-api ./

FROM service AS mcp-gateway
LABEL org.opencontainers.image.title="mcp-gateway" \
      org.opencontainers.image.description="Muster's operations as tools for models"
ENV PORT=4101
EXPOSE 4101
COPY --from=build-mcp-gateway /build/dist/apps/mcp-gateway ./

# Migrates its schema with: --entrypoint /usr/local/bin/node … cli.js migrate
FROM service AS license-service
LABEL org.opencontainers.image.title="license-service" \
      org.opencontainers.image.description="Activation of licenses"
ENV PORT=4102
EXPOSE 4102
COPY --from=build-license-service /build/dist/apps/license-service ./

FROM service AS delivery-worker
LABEL org.opencontainers.image.title="delivery-worker" \
      org.opencontainers.image.description="What follows from Muster's operations: mail, push, points, expiries, purges"
ENV PORT=4103
EXPOSE 4103
COPY --from=build-delivery-worker --chown=65532:65532 /build/mail /mail
COPY --from=build-delivery-worker --chown=65532:65532 /build/files /files
COPY --from=build-delivery-worker /build/dist/apps/delivery-worker ./

FROM service AS docs
LABEL org.opencontainers.image.title="docs" \
      org.opencontainers.image.description="Muster's guides and reference"
ENV PORT=4104
EXPOSE 4104
COPY --from=build-docs /build/dist/apps/docs ./

FROM service AS sign-in
LABEL org.opencontainers.image.title="sign-in" \
      org.opencontainers.image.description="People sign in, and programs get their tokens"
ENV PORT=4105
EXPOSE 4105
COPY --from=build-sign-in --chown=65532:65532 /build/mail /mail
COPY --from=build-sign-in /build/dist/apps/sign-in ./

FROM service AS console
LABEL org.opencontainers.image.title="console" \
      org.opencontainers.image.description="What people see of Muster: board, stories, agents at work, in a browser"
ENV PORT=4106
EXPOSE 4106
COPY --from=build-console /build/dist/apps/console ./

# The operators' commands; the default command migrates the database.
FROM program AS cli
LABEL org.opencontainers.image.title="cli" \
      org.opencontainers.image.description="Muster on the command line; brings its database up to date"
HEALTHCHECK NONE
COPY --from=build-cli /build/dist/apps/cli ./
CMD ["admin", "migrate"]
