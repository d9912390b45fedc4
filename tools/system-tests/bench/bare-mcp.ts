// The servers with which the gateway is compared. One is a plain proxy of a call. The other is an SDK server
// that is created for each request with every operation registered as a tool. mcp.ts forks this program.
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { pathOf } from '@muster/contract';
import { operations } from '@muster/registry';
import { fastify } from 'fastify';
import { Pool } from 'undici';
import { metrics, serve } from './bare-server.ts';

const api = new Pool(process.env['API_URL'] ?? '', { connections: 128 });
const app = fastify();

/** Forwards the body and returns the answer's body, both unchanged, as a proxy does. */
async function forward(path: string, authorization: string, body: string): Promise<string> {
  const headers = { authorization, 'content-type': 'application/json' };
  const answer = await api.request({ path, method: 'POST', headers, body });
  if (answer.statusCode !== 200) throw new Error(`the API answered ${answer.statusCode}`);
  return answer.body.text();
}

app.post('/api/stories/get', async (request, reply) =>
  reply
    .header('content-type', 'application/json; charset=utf-8')
    .send(await forward(request.url, request.headers.authorization ?? '', JSON.stringify(request.body))),
);

const handler = createMcpHandler(({ requestInfo }) => {
  const server = new McpServer({ name: 'bare', version: '1' });
  for (const { name, summary, params } of operations.values()) {
    const path = pathOf(name);
    server.registerTool(
      name.replaceAll('.', '_'),
      { description: summary, inputSchema: params },
      async (args: Record<string, unknown>) => {
        const text = await forward(
          path,
          requestInfo?.headers.get('authorization') ?? '',
          JSON.stringify(args),
        );
        return {
          content: [{ type: 'text', text }],
          structuredContent: JSON.parse(text) as Record<string, unknown>,
        };
      },
    );
  }
  return server;
});

app.post('/api/mcp', async (request, reply) => {
  const headers = { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' };
  const asked = new Request('http://127.0.0.1/api/mcp', {
    method: 'POST',
    headers: { ...headers, accept: 'application/json, text/event-stream' },
    body: JSON.stringify(request.body),
  });
  const answer = await handler.fetch(asked, { parsedBody: request.body });
  return reply
    .code(answer.status)
    .header('content-type', 'application/json')
    .send(await answer.text());
});

app.get('/metrics', metrics);

serve(await app.listen({ host: '127.0.0.1', port: 0 }));
