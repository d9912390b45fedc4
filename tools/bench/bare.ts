// The bare server: Fastify and pg, a named statement for each path, and nothing else. Forked by services.ts.
import { fastify } from 'fastify';
import pg from 'pg';
import { metrics, serve } from './bare-server.ts';
import { type BarePath, bareStatements } from './bare-statements.ts';

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL']),
});
const app = fastify();

for (const url of Object.keys(bareStatements) as BarePath[]) {
  const { text, values, answer } = bareStatements[url];
  app.post(url, async (request, reply) => {
    const body = request.body as Record<string, unknown>;
    const { rows } = await pool.query({ name: url, text, values: values.map((value) => body[value]) });
    if (rows.length === 0) throw new Error('no such row');
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ [answer]: answer === 'items' ? rows : (rows[0] as unknown) }));
  });
}

app.get('/metrics', metrics);

serve(await app.listen({ host: '127.0.0.1', port: 0 }));
