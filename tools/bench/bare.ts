// The bare server: Fastify and pg, a named statement for each path, and nothing else. Forked by services.ts.
import { fastify } from 'fastify';
import pg from 'pg';
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

/** The two numbers that are read of the product's too, in the same words. */
app.get('/metrics', () => {
  const { user, system } = process.cpuUsage();
  return `process_cpu_seconds_total ${(user + system) / 1e6}\nprocess_resident_memory_bytes ${process.memoryUsage().rss}\n`;
});

process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
process.on('disconnect', () => process.exit(0));
