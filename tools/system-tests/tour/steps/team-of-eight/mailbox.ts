import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { joinAs } from '../../team.ts';
import { type Eight, emailOf, type TourPerson } from './eight.ts';

const timeoutMs = 20_000;
const pollingIntervalMs = 100;

/** Returns the secret of the newest invitation to this person, after the worker has written the mail. */
export async function secretFor(eight: Eight, name: string): Promise<string> {
  const { mailFolder } = eight.instance;
  const email = emailOf(eight, name);
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    const secret = await findSecret(mailFolder, email);
    if (secret !== undefined) return secret;
    await pause(pollingIntervalMs);
  }
  const folder = path.relative(process.cwd(), mailFolder);
  throw new Error(`the worker wrote no invitation to ${email} to ${folder} within ${timeoutMs / 1000} s`);
}

/**
 * Finds the secret in the newest mail. The name of a mail file begins with its time and ends with its
 * recipient.
 */
async function findSecret(folder: string, email: string): Promise<string | undefined> {
  const files = existsSync(folder) ? await readdir(folder) : [];
  const newestFirst = files
    .filter((name) => name.endsWith(`-${email}.eml`))
    .toSorted()
    .toReversed();
  for (const file of newestFirst) {
    const mail = await readFile(path.join(folder, file), 'utf8');
    // Quoted-printable breaks long lines.
    const [secret] = /inv_[0-9A-Za-z]{32}/.exec(mail.replaceAll(/=\r?\n/g, '')) ?? [];
    if (secret !== undefined) return secret;
  }
  return undefined;
}

/** Follows the link in the e-mail, and joins with the token in the answer. */
export async function joinByMail(eight: Eight, name: TourPerson): Promise<void> {
  const { instance, journal, joined } = eight;
  const response = await fetch(`${instance.baseUrl}/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: await secretFor(eight, name), name }),
  });
  const answer = await response.text();
  if (!response.ok) throw new Error(`the invitation of ${name} was answered ${response.status}: ${answer}`);
  const { apiToken } = z.object({ apiToken: z.string() }).parse(JSON.parse(answer));
  joined.set(name, await joinAs(instance, journal, apiToken));
}
