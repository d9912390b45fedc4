/** The Python client as customers install it: by pip alone, in an environment of its own, without a network. */
import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { useApi } from './api.ts';

const run = promisify(execFile);
const source = path.resolve(import.meta.dirname, '../../../clients/python-api');
const hasPython =
  spawnSync('python3', ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 9))']).status ===
  0;
const api = useApi();

(hasPython ? describe : describe.skip)('the Python client', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'muster-python-'));
    const copy = path.join(folder, 'source');
    await cp(source, copy, { recursive: true });
    const { text } = await api.request('/openapi.json', { method: 'GET' });
    await writeFile(path.join(copy, 'openapi.json'), text);
    await run('python3', ['-m', 'venv', path.join(folder, 'venv')]);
    await run(path.join(folder, 'venv/bin/pip'), ['install', '--quiet', '--no-index', copy]);
    await rm(copy, { recursive: true });
  }, 180_000);
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** Runs a program that gets its input as JSON in argv[1], and returns what it prints as JSON. */
  async function python(program: string, input: object): Promise<unknown> {
    const interpreter = path.join(folder, 'venv/bin/python');
    const { stdout } = await run(interpreter, ['-c', program, JSON.stringify(input)], { cwd: folder });
    return JSON.parse(stdout);
  }
  const prelude = `
import json, sys, time
import muster_client.leases
from muster_client import *
given = json.loads(sys.argv[1])
`;

  it('creates, lists over pages, and raises errors by their code', async () => {
    const { ana } = await api.org();
    const program = `${prelude}
muster = Muster(given["url"], given["token"])
muster.projects.create(key="WEB", name="Website")
for title in ("One", "Two", "Three"):
    muster.stories.create(project_id="WEB", title=title, status="ready")
same = [muster.stories.create(project_id="WEB", title="Four", idempotency_key="k")["story"]["key"] for _ in range(2)]
muster.stories.update(story_id="WEB-1", estimate=3)
cleared = muster.stories.update(story_id="WEB-1", estimate=None)["story"]["estimate"]
titles = sorted(one["title"] for one in all_items(muster.stories.list, project_id="WEB", limit=2))
errors = []
for call in (
    lambda: muster.stories.get(story_id="WEB-9"),
    lambda: muster.stories.update_status(story_id="WEB-1", status="done", expected_version=99),
    lambda: Muster(given["url"], "mst_wrong").session.identity(),
    lambda: Muster("http://127.0.0.1:1", "x", retry_seconds=0).session.identity(),
):
    try:
        call()
    except (MusterError, NoAnswerError) as error:
        errors.append([type(error).__name__, getattr(error, "status", None), getattr(error, "reason", None)])
print(json.dumps([titles, same, cleared, errors]))`;
    expect(await python(program, { url: api.url(), token: ana.me.token })).toEqual([
      ['Four', 'One', 'Three', 'Two'],
      ['WEB-4', 'WEB-4'],
      null,
      [
        ['NotFoundError', 404, 'not_found'],
        ['ConflictError', 409, 'version_mismatch'],
        ['UnauthorizedError', 401, expect.anything()],
        ['NoAnswerError', null, null],
      ],
    ]);
  });

  it('repeats a call whose answer was cut or was not HTTP', async () => {
    const answers = [
      'HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{',
      'not HTTP\r\n\r\n',
      'HTTP/1.1 503 Away\r\ncontent-length: 99\r\n\r\n{',
      'HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{"done": true}',
    ];
    const server = createServer((socket) => {
      socket.once('data', () => socket.end(answers.shift() ?? '')).on('error', () => undefined);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const program = `${prelude}
print(json.dumps(Muster(given["url"], "x", retry_seconds=30).session.identity()))`;
    expect(await python(program, { url: `http://127.0.0.1:${port}` })).toEqual({ done: true });
    expect(answers).toEqual([]);
    server.close();
  });

  it('renews a lease while its holder works, and says when another one has it', async () => {
    const { ana } = await api.org();
    await ana.projects.create({ key: 'WEB', name: 'Website' });
    for (const title of ['One', 'Two'])
      await ana.stories.create({ projectId: 'WEB', title, status: 'ready' });
    const program = `${prelude}
# Renews often instead of after half of the 30 seconds.
muster_client.leases._renew_after_share = 0.01
muster = Muster(given["url"], given["token"])
with with_lease(muster, "story", "WEB-1", ttl_seconds=30) as lease:
    first = lease.execution["lease"]["expiresAt"]
    while lease.execution["lease"]["expiresAt"] == first:
        time.sleep(0.02)
    lease.checkpoint(summary="Half of it")
    held = muster.session.identity()["holding"]
    lease.complete(outcome="submitted", pull_request={"number": 1, "url": "https://example.com/acme/web/pull/1"}, summary="All of it")
with with_lease(muster, "story", "WEB-2", ttl_seconds=30) as second:
    other = muster.delivery_executions.acquire(target_type="story", target_id="WEB-2", take_over=True, run_id="other")
    try:
        second.checkpoint(summary="Too late")
    except ConflictError as error:
        refused = error.reason
    lost = second.lost.is_set()
print(json.dumps([[one["key"] for one in held], lease.is_over, lease.lost.is_set(), refused, lost]))`;
    expect(await python(program, { url: api.url(), token: ana.me.token })).toEqual([
      ['WEB-1'],
      true,
      false,
      'stale_lease',
      true,
    ]);
    const { items } = await ana.deliveryExecutions.list({ projectId: 'WEB' });
    expect(items.map(({ state }) => state).toSorted()).toEqual(['leased', 'submitted']);
  });

  it('verifies webhooks as Standard Webhooks specifies it', async () => {
    const secret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
    const body = JSON.stringify({ type: 'story.created', data: { seq: 1, name: 'Größe' } });
    const at = new Date();
    const headers = {
      'Webhook-Id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': `v1,AAAA ${new Webhook(secret).sign('msg_1', at, body)}`,
    };
    const program = `${prelude}
def outcome(secrets, headers, body):
    try:
        return verify_webhook(secrets, headers, body)["data"]["name"]
    except WebhookVerificationError:
        return None
headers, body, secret = given["headers"], given["body"], given["secret"]
other = "whsec_b3RoZXI="
old = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 400)}
print(json.dumps([
    outcome(secret, headers, body), outcome([other, secret], headers, body.encode()),
    outcome(other, headers, body), outcome(secret, headers, body + " "), outcome(secret, old, body), outcome(secret, {}, body),
]))`;
    expect(await python(program, { headers, body, secret })).toEqual([
      'Größe',
      'Größe',
      null,
      null,
      null,
      null,
    ]);
  });
});
