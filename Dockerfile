# One image for every process; the argument selects the process:
#   docker build -t scheduling-oauth:0.1.0 .
#   docker run … scheduling-oauth:0.1.0 dist/apps/token.cjs
FROM node:26.10.0-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# .dockerignore excludes everything except the product's sources.
FROM dependencies AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json build.mjs ./
COPY apps apps
COPY libs libs
RUN npm run -s build && rm -rf dist/.build dist/*.tsbuildinfo

FROM node:26.10.0-trixie-slim
ENV NODE_ENV=production
WORKDIR /app
# Removes npm and yarn, which are not needed at run time. Adds the command `operator`:
#   docker exec … operator client list
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /opt/yarn* \
  && printf '#!/bin/sh\nexec node /app/dist/apps/operator.cjs "$@"\n' >/usr/local/bin/operator \
  && chmod 755 /usr/local/bin/operator
# scopes.yaml is the default of SCOPES_FILE.
COPY package.json scopes.yaml ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# The user is numeric, so that Kubernetes can verify that it is not root.
USER 10001:10001
# Node is process 1: it receives SIGTERM for a graceful shutdown, and its exit code is the container's.
ENTRYPOINT ["node"]
