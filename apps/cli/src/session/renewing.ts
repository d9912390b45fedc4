/** Calls by a login that ends and goes on: its next token is had shortly before, or once the one that is kept is refused. */
import { refresh } from './oauth.ts';
import { changeProfiles, type Profile } from './profiles.ts';

/** So long before a token ends the next one is had: longer than a call is on its way. */
const earlyMillis = 60_000;

const endsSoon = ({ oauth }: Profile): boolean =>
  oauth !== undefined && Date.parse(oauth.expiresAt) < Date.now() + earlyMillis;
const hasEnded = ({ oauth }: Profile): boolean =>
  oauth !== undefined && Date.parse(oauth.expiresAt) <= Date.now();

/**
 * The login after `refused`, whose token is not to be used any more: what another process has got by now, else what the server
 * gives. The same one where the login is over.
 */
async function renew(name: string, refused: Profile): Promise<Profile> {
  return changeProfiles<Profile>(async (before) => {
    const kept = Object.hasOwn(before.profiles, name) ? before.profiles[name] : undefined;
    // It is forgotten, or it is another one by now: nothing of that is for this address.
    if (kept?.oauth === undefined || kept.baseUrl !== refused.baseUrl) return { result: refused };
    if (kept.token !== refused.token && !endsSoon(kept)) return { result: kept };
    const next = await refresh(kept.oauth);
    if (next === undefined) return { result: refused };
    const result: Profile = { baseUrl: kept.baseUrl, ...next };
    return { after: { ...before, profiles: { ...before.profiles, [name]: result } }, result };
  });
}

/** `fetch` as the login of that name, whatever token a request comes with. */
export function fetchAs(name: string, first: Profile): typeof fetch {
  let profile = first;
  let renewing: Promise<Profile> | undefined;
  /** Many calls of this process wait for one token. */
  const renewOnce = async (refused: Profile): Promise<Profile> => {
    if (profile.token !== refused.token) return profile;
    renewing ??= renew(name, refused).finally(() => (renewing = undefined));
    return (profile = await renewing);
  };
  const send = (used: Profile, ...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${used.token}`);
    return fetch(input, { ...init, headers });
  };
  return async (input, init) => {
    let used = profile;
    if (endsSoon(used)) {
      used = await renewOnce(used).catch((error: unknown) => {
        if (hasEnded(used)) throw error;
        return used;
      });
    }
    const answer = await send(used, input, init);
    if (answer.status !== 401) return answer;
    const next = await renewOnce(used);
    if (next.token === used.token) return answer;
    await answer.body?.cancel();
    return send(next, input, init);
  };
}
