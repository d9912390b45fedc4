/** Serves metrics on a port of their own, which only monitoring can reach. */
import { createServer, type Server } from 'node:http';
import { type Registry } from 'prom-client';

/** Answers GET /metrics; every other request gets a 404. */
export function createMetricsServer(registry: Registry): Server {
  return createServer({ requestTimeout: 5_000, connectionsCheckingInterval: 1_000 }, (request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    registry.metrics().then(
      (text) => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      () => response.writeHead(500).end(),
    );
  });
}
