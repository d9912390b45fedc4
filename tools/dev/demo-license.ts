import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { licenseProgram } from './operators.ts';

const Issued = z.object({ licenses: z.array(z.object({ key: z.string() })) });

/**
 * The time limit of retries. While everything starts at the same time, a service can be too busy for a
 * moment.
 */
const patienceMs = 30_000;
const retryDelayMs = 1_000;

/**
 * Provides a license to try: the key of the last start if this database knows it, else a new one. The key is
 * stored only in `dev.json`.
 */
export async function provideDemoLicense(
  databaseUrl: string,
  licenseUrl: string,
  lastKey: string | null,
): Promise<string> {
  if (lastKey !== null && (await retry(() => isKnown(licenseUrl, lastKey)))) return lastKey;
  return retry(() => issue(databaseUrl));
}

/** Retries a step until it succeeds. Throws its last error after `patienceMs`. */
async function retry<Result>(step: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await pause(retryDelayMs);
  }
}

async function issue(databaseUrl: string): Promise<string> {
  const args = ['issue', '--plan', 'demo', '--for', '365d', '--customer', 'acme', '--json'];
  const child = spawn(process.execPath, [licenseProgram, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DATABASE_URL: databaseUrl },
  });
  const [exit, out] = await Promise.all([once(child, 'exit'), text(child.stdout)]);
  const [code] = exit as [number | null];
  const [one] = code === 0 ? Issued.parse(JSON.parse(out)).licenses : [];
  if (one === undefined) throw new Error('the demo license could not be issued');
  return one.key;
}

/** Returns false if the service refuses the key. The database may differ from the one of the last start. */
async function isKnown(licenseUrl: string, licenseKey: string): Promise<boolean> {
  const query = new URLSearchParams({ licenseKey, machineId: 'npm start' });
  const answer = await fetch(`${licenseUrl}/api/activate/check?${query.toString()}`);
  await answer.arrayBuffer();
  if (answer.status === 429 || answer.status >= 500)
    throw new Error(`the license service answered ${answer.status}`);
  return answer.ok;
}
