// The bare server: Fastify and pg with one statement for each path. STEP selects how many of the product's
// promises a write keeps (write-steps.ts). `Services.bare` and writes.ts start this program.
import { hash } from 'node:crypto';
import { createPool, sendBurst, type Statement } from '@muster/driver';
import { fastify } from 'fastify';
import pg from 'pg';
import { type Body, type BareDecision, decisions, type WritePath } from './bare-decisions.ts';
import { type BarePath, bareStatements } from './bare-statements.ts';
import { stepNames } from './write-steps.ts';

const steps = Object.keys(stepNames);
const lastStep = steps.indexOf(process.env['STEP'] ?? '');
/** Returns true for the step that STEP names and for all steps before it. */
const does = (step: keyof typeof stepNames): boolean => steps.indexOf(step) <= lastStep;

/** Uses the product's own tables, with their foreign keys, monthly partitions and triggers. */
const onTables = (text: string): string =>
  text.replaceAll(
    /\bbare\.(stories|comments|leases|executions|execution_events|activity|audit|outbox)\b/g,
    'public.$1',
  );

const nextNumber = `n as materialized (select nextval('bare.number') as number)`;
const numberOfProject = `n as (update public.project_counters set last_story_number = last_story_number + 1
  where org_id = $1::uuid and project_id = $3::uuid returning last_story_number as number)`;

/**
 * Replaces the sequences of a write by numbers from a locked row. The next transaction therefore gets its
 * number only after this one has ended.
 */
const numbered = (text: string): string => {
  const streams = text.includes('activity_seq') ? ['audit', 'activity'] : ['audit'];
  return text
    .replace(nextNumber, numberOfProject)
    .replace(
      /^with /,
      `with stream as (update public.streams set ${streams.map((name) => `${name} = ${name} + 1`).join()}
        where org_id = $1::uuid returning ${streams.join()}), `,
    )
    .replaceAll(`nextval('bare.activity_seq')`, '(select activity from stream)')
    .replaceAll(`nextval('bare.audit_seq')`, '(select audit from stream)');
};

const texts = new Map<string, string>();
/** Returns the SQL of a statement, changed as the selected STEP requires. */
function textOf(text: string): string {
  let made = texts.get(text);
  if (made === undefined) {
    const kept = does('kept') ? onTables(text) : text;
    made = does('numbered') ? numbered(kept) : kept;
    texts.set(text, made);
  }
  return made;
}

interface Rights {
  readonly epoch: string;
  readonly expires_at: string | null;
  readonly projects: readonly string[];
}

/** The permissions of a token from its authorization check, cached after the first lookup. */
const rights = new Map<string, Rights>();

const plain = (sql: string): Statement => ({ sql, parameters: [] });
const hold: Statement = plain('select app.hold_open() as archived');

function wayIn(token: string, { orgId }: Body, [kind, id]: readonly [string, string]): Statement {
  const known = rights.get(token);
  return {
    sql: 'select * from app.enter($1, 1, $2, $3, 2, null, $4, $5, $6, $7)',
    parameters: [
      ...[hash('sha256', token, 'buffer'), kind, id],
      ...[known && orgId, known?.epoch, known?.expires_at, known && `{${known.projects.join()}}`].map(
        (value) => value ?? null,
      ),
    ],
  };
}

/**
 * Caches the permissions of a token. The authorization check returns an epoch only if the cached permissions
 * were not current.
 */
function remember(token: string, found: Record<string, unknown> | undefined): void {
  if (typeof found?.['epoch'] !== 'string') return;
  const known = rights.get(token);
  const projects = known?.epoch === found['epoch'] ? known.projects : [];
  rights.set(token, {
    epoch: found['epoch'],
    expires_at: found['expires_at'] as string | null,
    projects: [...projects, String(found['project_id'])],
  });
}

const url = process.env['DATABASE_URL'] ?? '';
const max = Number(process.env['DATABASE_POOL']);
const bare = new pg.Pool({ connectionString: url, max, idleTimeoutMillis: 0 });
const entered = createPool({ url, role: 'muster_app', name: 'bare-writes', max });

const valuesOf = (names: readonly string[], ...known: readonly object[]): unknown[] => {
  const all = Object.assign({}, ...known) as Record<string, unknown>;
  return names.map((name) => all[name]);
};

/** Runs a write that first reads and then decides: BEGIN, two round trips, COMMIT. */
async function decide(path: WritePath, token: string, body: Body): Promise<unknown> {
  const decision: BareDecision = decisions[path];
  const client = await entered.connect();
  let isFit = false;
  try {
    const results = await sendBurst(client, [
      plain('begin'),
      wayIn(token, body, decision.target(body)),
      ...(decision.isBarred ? [hold] : []),
      ...decision.looks(body),
    ]);
    remember(token, results[1]?.rows[0]);
    const looked = results.slice(decision.isBarred ? 3 : 2).map(({ rows }) => rows);
    const { write, known, answer } = decision.decide(body, looked);
    const parameters = valuesOf(write.values, body, known);
    const [written] = await sendBurst(client, [{ sql: textOf(write.text), parameters }, plain('commit')]);
    isFit = true;
    const row = written?.rows[0];
    return row === undefined ? undefined : { ...answer, ...row };
  } finally {
    client.release(!isFit);
  }
}

const app = fastify();
for (const path of Object.keys(bareStatements) as BarePath[]) {
  const { text, values, answer } = bareStatements[path];
  const run = async (body: Body, authorization = ''): Promise<unknown> => {
    if (!does('statement')) return { ...body, id: path, leaseToken: path };
    if (does('decided') && path in decisions)
      return decide(path as WritePath, authorization.slice('Bearer '.length), body);
    const { rows } = await bare.query({ name: path, text: textOf(text), values: valuesOf(values, body) });
    return answer === 'items' && rows.length > 0 ? rows : rows[0];
  };
  app.post(path, async (request, reply) => {
    const found = await run(request.body as Body, request.headers.authorization);
    if (found === undefined) throw new Error('no such row');
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ [answer]: found }));
  });
}

// The process's use in the format of the product's metrics.
app.get('/metrics', () => {
  const { user, system } = process.cpuUsage();
  return `process_cpu_seconds_total ${(user + system) / 1e6}\nprocess_resident_memory_bytes ${process.memoryUsage().rss}\n`;
});

process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
process.on('disconnect', () => process.exit(0));
