import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { serve } from './http-server.js';

interface AnyValue {
  readonly kvlistValue?: { readonly values: readonly KeyValue[] };
  readonly stringValue?: string;
}

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export interface CollectedLog {
  readonly eventName: string;
  readonly severityText: string;
  readonly attributes: readonly KeyValue[];
  readonly body: AnyValue;
}

/** OpenTelemetry collector of logs (OTLP over HTTP, JSON). With `isSilent`, it accepts requests and never responds. */
export async function startLogCollector(isSilent = false) {
  const logs: CollectedLog[] = [];
  const texts: string[] = [];
  let requests = 0;
  const { url, close } = await serve((request, response) => {
    requests += 1;
    void buffer(request).then((body) => {
      if (isSilent) return;
      const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString();
      const { resourceLogs } = JSON.parse(text) as {
        resourceLogs: { scopeLogs: { logRecords: CollectedLog[] }[] }[];
      };
      texts.push(text);
      logs.push(
        ...resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords)),
      );
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });
  return {
    url: `${url}/v1/logs`,
    logs,
    texts,
    requests: () => requests,
    close,
  };
}

/** Returns a text in the body of a record. */
export function bodyText({ body }: CollectedLog, name: string): string | undefined {
  return body.kvlistValue?.values.find(({ key }) => key === name)?.value.stringValue;
}
