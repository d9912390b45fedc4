import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { type Eight, emailOf, enter, type Person } from './eight.ts';

const mostMillis = 20_000;
const restMillis = 100;

/** The secret in the newest invitation to somebody, once the worker has written it. */
export async function secretFor(eight: Eight, name: string): Promise<string> {
  const { mailFolder } = eight.instance;
  const until = performance.now() + mostMillis;
  while (performance.now() < until) {
    const secret = await lookFor(mailFolder, emailOf(eight, name));
    if (secret !== undefined) return secret;
    await pause(restMillis);
  }
  const shown = path.relative(process.cwd(), mailFolder);
  const to = emailOf(eight, name);
  throw new Error(`the worker wrote no invitation to ${to} to ${shown} within ${mostMillis / 1000} s`);
}

/** The names of mails begin with a time, and end with whom they are for. */
async function lookFor(folder: string, email: string): Promise<string | undefined> {
  const files = existsSync(folder) ? await readdir(folder) : [];
  for (const file of files
    .filter((name) => name.endsWith(`-${email}.eml`))
    .toSorted()
    .toReversed()) {
    const mail = await readFile(path.join(folder, file), 'utf8');
    // Quoted-printable breaks long lines.
    const [secret] = /inv_[0-9A-Za-z]{32}/.exec(mail.replaceAll(/=\r?\n/g, '')) ?? [];
    if (secret !== undefined) return secret;
  }
  return undefined;
}

const Accepted = z.object({ apiToken: z.string() });
const Refused = z.object({ details: z.object({ reason: z.string() }).optional(), code: z.string() });

/** Follows the link as somebody does who has no token yet: `200` and the token, or why not, as in `409 already_resolved`. */
export async function accept(
  { instance, orgSlug }: Eight,
  secret: string,
  name: string,
): Promise<{ readonly is: string; readonly token: string }> {
  const response = await fetch(`${instance.baseUrl}/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': `${orgSlug}-${name}-accepts` },
    body: JSON.stringify({ token: secret, name }),
  });
  const body: unknown = await response.json();
  if (response.ok) return { is: response.status.toString(), token: Accepted.parse(body).apiToken };
  const { details, code } = Refused.parse(body);
  return { is: `${response.status} ${details?.reason ?? code}`, token: '' };
}

/** Comes in by the link in the e-mail, and is at work from then on. */
export async function comeIn(eight: Eight, name: Person): Promise<string> {
  const secret = await secretFor(eight, name);
  const { is, token } = await accept(eight, secret, name);
  if (token === '') throw new Error(`the invitation of ${name} came to ${is}`);
  eight.accepted += 1;
  eight.there.set(name, await enter(eight, token));
  return secret;
}
