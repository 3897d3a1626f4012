import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type HttpServer, serve } from '../support/http-server.js';

interface Attribute {
  readonly key: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string }[];
  readonly service: string;
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<CollectedSpan, 'service'>[] }[];
  }[];
}

/** OpenTelemetry collector (OTLP over HTTP, JSON). */
export class TraceCollector {
  readonly spans: CollectedSpan[] = [];
  readonly texts: string[] = [];
  /** True to respond with 401 and repeat the request headers, as some servers do. */
  refuses = false;

  private server: HttpServer | undefined;

  static async start(): Promise<TraceCollector> {
    const collector = new TraceCollector();
    collector.server = await serve((request, response) => {
      void buffer(request).then((body) => {
        if (collector.refuses) {
          const echo = JSON.stringify(request.headers);
          response.writeHead(401, echo, { 'Content-Type': 'application/json' }).end(echo);
          return;
        }
        collector.take((request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString());
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    return collector;
  }

  get url(): string {
    return this.server?.url ?? '';
  }

  close(): void {
    this.server?.close();
  }

  private take(text: string): void {
    this.texts.push(text);
    for (const { resource, scopeSpans } of (JSON.parse(text) as Export).resourceSpans) {
      const service = String(
        resource.attributes.find(({ key }) => key === 'service.name')?.value['stringValue'],
      );
      for (const { spans } of scopeSpans) this.spans.push(...spans.map((span) => ({ ...span, service })));
    }
  }
}

export function attributesOf({ attributes }: CollectedSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
