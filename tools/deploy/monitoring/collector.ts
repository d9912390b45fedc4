/** A collector of traces: an HTTP server that accepts OTLP in JSON and keeps everything it receives. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { type AddressInfo } from 'node:net';

type Value = string | number | boolean;

export interface CollectedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  /** The span kind by its OTLP number. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly failed: boolean;
}

export const spanKind = { internal: 1, server: 2, client: 3, consumer: 5 };

interface KeyValue {
  readonly key: string;
  readonly value: Readonly<Record<string, Value>>;
}

interface Otlp {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<
        CollectedSpan,
        'service' | 'attributes' | 'failed' | 'links' | 'parentSpanId'
      > & {
        readonly parentSpanId?: string;
        readonly attributes: readonly KeyValue[];
        readonly links?: CollectedSpan['links'];
        readonly status: { readonly code?: number };
      })[];
    }[];
  }[];
}

const attributesOf = (pairs: readonly KeyValue[]): Readonly<Record<string, Value>> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0] ?? '']));

export interface Collector {
  readonly url: string;
  readonly spans: readonly CollectedSpan[];
  /** The received bodies, unparsed, so that specs can search them for secrets. */
  readonly bodies: readonly string[];
  readonly headers: readonly IncomingHttpHeaders[];
  close(): Promise<void>;
}

export async function startCollector(): Promise<Collector> {
  const spans: CollectedSpan[] = [];
  const bodies: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const isIt = request.method === 'POST' && request.url === '/v1/traces';
      if (isIt) keep(Buffer.concat(parts).toString());
      headers.push(request.headers);
      response.writeHead(isIt ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
    });
  });
  const keep = (body: string): void => {
    bodies.push(body);
    for (const { resource, scopeSpans } of (JSON.parse(body) as Otlp).resourceSpans) {
      const service = String(attributesOf(resource.attributes)['service.name']);
      for (const { attributes, links = [], parentSpanId = '', status, ...span } of scopeSpans.flatMap(
        (scope) => scope.spans,
      ))
        spans.push({
          ...{ ...span, service, parentSpanId, links },
          attributes: attributesOf(attributes),
          failed: status.code === 2,
        });
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ spans, bodies, headers },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
