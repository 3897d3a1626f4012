import type { V1Ingress } from '@kubernetes/client-node';
import { asItsUser, type NginxPlace, type Ingress, startNginx } from './nginx.js';
import { all, decodedSecret } from './manifests.js';
import type { Manifest } from './render.js';

interface Place extends NginxPlace {
  readonly backends: Readonly<Record<string, string>>;
}

export type ControllerSettings = Readonly<
  Partial<Record<'log-format' | 'error-log-level' | 'http-snippets', string>>
>;

/** Default log format of the controller. */
const LOG_FORMAT =
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent" "$http_x_forwarded_for"';

/**
 * Generates the configuration as the NGINX Ingress Controller of nginx.org does.
 * @throws Error for an unknown annotation
 */
function nginxConfiguration(
  ingresses: readonly V1Ingress[],
  place: Place,
  settings: ControllerSettings = {},
): string {
  return `
daemon off;
${asItsUser}
pid ${place.folder}/pid;
error_log ${place.folder}/error.log ${settings['error-log-level'] ?? 'notice'};
events { worker_connections 1024; }
http {
${indent(settings['http-snippets'] ?? '')}
  log_format main '${settings['log-format'] ?? LOG_FORMAT}';
  access_log ${place.folder}/access.log main;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${place.folder}/${name};`).join(' ')}
  ssl_certificate ${place.certificate};
  ssl_certificate_key ${place.key};
  server {
    listen 127.0.0.1:${place.port} ssl default_server;
    return 404;
  }
${ingresses.map((ingress) => serverOf(ingress, place)).join('\n')}
}
`;
}

function serverOf({ metadata, spec }: V1Ingress, place: Place): string {
  const name = metadata?.name ?? '';
  const annotations = new Map(Object.entries(metadata?.annotations ?? {}));
  const take = (key: string, otherwise?: string): string => {
    const value = annotations.get(`nginx.org/${key}`) ?? otherwise;
    if (value === undefined) throw new Error(`Ingress ${name} has no nginx.org/${key}`);
    annotations.delete(`nginx.org/${key}`);
    return value;
  };
  const limit = `limit_req_zone ${take('limit-req-key').replace(/^\$\{(\w+)\}$/, '$$$1')} zone=${name}:${take('limit-req-zone-size')} rate=${take('limit-req-rate')};`;
  const noDelay = take('limit-req-no-delay') === 'true' ? ' nodelay' : '';
  const settings = [
    `limit_req zone=${name} burst=${take('limit-req-burst')}${noDelay};`,
    `limit_req_status ${take('limit-req-reject-code')};`,
    `limit_req_log_level ${take('limit-req-log-level')};`,
    `client_max_body_size ${take('client-max-body-size')};`,
    `proxy_connect_timeout ${take('proxy-connect-timeout')};`,
    `proxy_read_timeout ${take('proxy-read-timeout')};`,
    'proxy_http_version 1.1;',
    'proxy_set_header Connection "";',
    'proxy_set_header Host $host;',
    'proxy_set_header X-Real-IP $remote_addr;',
    'proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;',
    'proxy_set_header X-Forwarded-Host $host;',
    'proxy_set_header X-Forwarded-Port $server_port;',
    'proxy_set_header X-Forwarded-Proto $scheme;',
  ];
  const snippet = take('server-snippets', '');
  const unknown = [...annotations.keys()];
  if (unknown.length > 0) throw new Error(`Ingress ${name}: unknown annotations: ${unknown.join(', ')}`);
  const [secure] = spec?.tls ?? [];
  return (spec?.rules ?? [])
    .map(({ host = '', http }) => {
      if (!secure?.hosts?.includes(host)) throw new Error(`Ingress ${name}: ${host} has no TLS`);
      const locations = (http?.paths ?? []).flatMap(({ path = '', pathType, backend }) => {
        const to = place.backends[backend.service?.name ?? ''];
        if (!['Prefix', 'Exact'].includes(pathType) || !to || backend.service?.port?.name !== 'http')
          throw new Error(`Ingress ${name}: ${path} leads nowhere`);
        // Kubernetes matches prefixes by whole path elements.
        const within = pathType === 'Prefix' ? [`location ${path.replace(/\/$/, '')}/`] : [];
        return [`location = ${path}`, ...within].map(
          (location) =>
            `    ${location} {\n      ${[...settings, `proxy_pass ${to};`].join('\n      ')}\n    }`,
        );
      });
      return `  ${limit}
  server {
    listen 127.0.0.1:${place.port} ssl;
    server_name ${host};
${indent(snippet)}
${locations.join('\n')}
${locations.some((location) => location.includes('location / {')) ? '' : '    location / {\n      return 404;\n    }'}
  }`;
    })
    .join('\n');
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}

/** @param settings data of the controller's ConfigMap */
export function startIngress(
  manifests: readonly Manifest[],
  backends: Readonly<Record<string, string>>,
  settings: ControllerSettings = {},
): Promise<Ingress> {
  // Excludes the console, which has a separate controller.
  const ingresses = ofClass('nginx', manifests);
  return startNginx((place) => nginxConfiguration(ingresses, { ...place, backends }, settings));
}

/** Starts the controller of a class, with the certificate that its Ingresses name. */
export function startControllerOf(
  ingressClass: string,
  manifests: readonly Manifest[],
  backends: Readonly<Record<string, string>>,
  settings: ControllerSettings = {},
): Promise<Ingress> {
  const [ingress] = ofClass(ingressClass, manifests);
  const secret = ingress?.spec?.tls?.[0]?.secretName ?? '';
  const identity = {
    certificate: decodedSecret(manifests, secret, 'tls.crt'),
    key: decodedSecret(manifests, secret, 'tls.key'),
  };
  return startNginx(
    (place) => nginxConfiguration(ofClass(ingressClass, manifests), { ...place, backends }, settings),
    identity,
  );
}

function ofClass(ingressClass: string, manifests: readonly Manifest[]): V1Ingress[] {
  return all(manifests, 'Ingress').filter(({ spec }) => spec?.ingressClassName === ingressClass);
}
