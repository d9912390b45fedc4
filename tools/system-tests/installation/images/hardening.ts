/** Checks the compose file's security settings of each container by asking the engine that runs it. */
import { z } from 'zod';
import { check, type Check } from '../../tour/check.ts';
import { type Engine } from './engine.ts';
import { type ComposeInstallation } from './installation.ts';

const Inspected = z.array(
  z.object({
    EffectiveCaps: z.array(z.string()).nullable(),
    HostConfig: z.object({ ReadonlyRootfs: z.boolean(), SecurityOpt: z.array(z.string()) }),
    State: z.object({ Pid: z.int().positive() }),
  }),
);

/** Linux capabilities that a service may keep. The edge needs one to bind low ports. */
const mayKeep: Readonly<Record<string, readonly string[]>> = { edge: ['CAP_NET_BIND_SERVICE'] };
/** Debian's Caddy runs as root in its container, as the official image does. */
const mayBeRoot = ['edge'];

/** A script that runs in one of our containers. It prints its user ID and tries to write outside /tmp. */
const attempt = `
const { writeFileSync, existsSync } = require('node:fs');
const write = (file) => { try { writeFileSync(file, ''); return 'written'; } catch (error) { return error.code; } };
console.log(JSON.stringify({ uid: process.getuid(), root: write('/written'), app: write('/app/written'),
  tmp: write('/tmp/written'), shell: existsSync('/bin/sh') }));`;

const Attempt = z.object({
  uid: z.int(),
  root: z.string(),
  app: z.string(),
  tmp: z.string(),
  shell: z.boolean(),
});

const uidOf = async (engine: Engine, container: string): Promise<number> =>
  Number((await engine.run('podman', 'top', container, 'huser')).split('\n')[1]);

export async function checkHardening(
  engine: Engine,
  { containers }: Pick<ComposeInstallation, 'containers'>,
  own: readonly string[],
): Promise<readonly Check[]> {
  const all = await containers();
  const confined = check('each container is read-only, without rights, and cannot get any', () => '');
  const unprivileged = check('each program of ours is a user, and writes to /tmp alone', () => '');
  for (const [service, container] of all) {
    const inspected = Inspected.parse(JSON.parse(await engine.run('podman', 'inspect', container)));
    for (const { EffectiveCaps, HostConfig } of inspected) {
      confined.that(HostConfig.ReadonlyRootfs, () => `${service} may write to its files`);
      confined.same(EffectiveCaps ?? [], mayKeep[service] ?? [], `what ${service} may`);
      const isClosed = HostConfig.SecurityOpt.some((option) => option.startsWith('no-new-privileges'));
      confined.that(isClosed, () => `${service} may get new rights`);
    }
    const uid = await uidOf(engine, container);
    confined.that(uid !== 0 || mayBeRoot.includes(service), () => `${service} runs as root`);
    if (!own.includes(service)) continue;
    const said = await engine.run('podman', 'exec', container, '/usr/local/bin/node', '-e', attempt);
    const expected = { uid: 65_532, root: 'EROFS', app: 'EROFS', tmp: 'written', shell: false };
    unprivileged.same(Attempt.parse(JSON.parse(said)), expected, service);
  }
  confined.detail = `${all.size} containers`;
  unprivileged.detail = `${own.length} programs`;
  const missing = own.filter((service) => !all.has(service));
  unprivileged.same(missing, [], 'what does not run');
  return [confined, unprivileged];
}
