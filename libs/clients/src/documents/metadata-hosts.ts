import { listOf, ParsedBy } from '#platform/configuration/variables.js';

/** CLIENT_METADATA_HOSTS: comma-separated hosts, each with a port unless the port is the default. */
export function IsMetadataHosts(): PropertyDecorator {
  return ParsedBy(
    metadataHosts,
    'hosts such as app.example.com or app.example.com:8443, in lower case, comma-separated',
  );
}

/** @throws Error with the invalid host */
export function metadataHosts(text: string): readonly string[] {
  const hosts = listOf(text);
  const wrong = hosts.find(
    // `URL` accepts `*` in a host, but the comparison of hosts is literal.
    (host) =>
      host.includes('*') || !URL.canParse(`https://${host}/`) || new URL(`https://${host}/`).host !== host,
  );
  if (wrong !== undefined) throw new Error(`${wrong} is not a host`);
  return hosts;
}
