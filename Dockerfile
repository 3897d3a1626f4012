# One image for every process; which one it is, its argument says:
#   docker build -t scheduling-oauth:0.1.0 .
#   docker run … scheduling-oauth:0.1.0 dist/apps/token/src/main.js
FROM node:26.10.0-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

# .dockerignore leaves dev/, libs/testing and every test out.
FROM dependencies AS build
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY apps apps
COPY libs libs
RUN npm run -s build && rm -f dist/*.tsbuildinfo

FROM node:26.10.0-trixie-slim
ENV NODE_ENV=production
WORKDIR /app
# Nothing is installed at run time; the operator's commands have a name: docker exec … operator client list
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /opt/yarn* \
  && printf '#!/bin/sh\nexec node /app/dist/apps/operator/src/main.js "$@"\n' >/usr/local/bin/operator \
  && chmod 755 /usr/local/bin/operator
COPY package.json ./
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# A number, so that Kubernetes can see that it is not root.
USER 10001:10001
# Node itself is the first process: it gets SIGTERM, drains, and its exit code is the container's.
ENTRYPOINT ["node"]
