/** Renews the token of a login shortly before it expires, or after a call with it was rejected. */
import { refreshLogin } from './oauth.ts';
import { updateProfiles, type Profile } from './profiles.ts';

/** The time before expiry at which a token is renewed. It is longer than a call takes. */
const renewBeforeExpiryMillis = 60_000;

const expiresSoon = ({ oauth }: Profile): boolean =>
  oauth !== undefined && Date.parse(oauth.expiresAt) < Date.now() + renewBeforeExpiryMillis;
const isExpired = ({ oauth }: Profile): boolean =>
  oauth !== undefined && Date.parse(oauth.expiresAt) <= Date.now();

/**
 * Returns the login that replaces `refused`, whose token the API no longer accepts. Another process may have
 * renewed the token already. Returns `refused` itself if the login has ended.
 */
async function renewLogin(name: string, rejected: Profile): Promise<Profile> {
  return updateProfiles<Profile>(async (before) => {
    const kept = Object.hasOwn(before.profiles, name) ? before.profiles[name] : undefined;
    // The login was deleted or replaced, so its tokens must not be sent to this address.
    if (kept?.oauth === undefined || kept.baseUrl !== rejected.baseUrl) return { result: rejected };
    if (kept.token !== rejected.token && !expiresSoon(kept)) return { result: kept };
    const next = await refreshLogin(kept.oauth);
    if (next === undefined) return { result: rejected };
    const result: Profile = { baseUrl: kept.baseUrl, ...next };
    return { after: { ...before, profiles: { ...before.profiles, [name]: result } }, result };
  });
}

/** Returns a `fetch` that calls with the token of the named login, whatever token a request contains. */
export function createRenewingFetch(name: string, initialProfile: Profile): typeof fetch {
  let profile = initialProfile;
  let renewing: Promise<Profile> | undefined;
  /** Concurrent calls of this process share one renewal. */
  const renewOnce = async (refused: Profile): Promise<Profile> => {
    if (profile.token !== refused.token) return profile;
    renewing ??= renewLogin(name, refused).finally(() => (renewing = undefined));
    return (profile = await renewing);
  };
  const send = (used: Profile, ...[input, init]: Parameters<typeof fetch>): Promise<Response> => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${used.token}`);
    return fetch(input, { ...init, headers });
  };
  return async (input, init) => {
    let used = profile;
    if (expiresSoon(used))
      used = await renewOnce(used).catch((error: unknown) => {
        if (isExpired(used)) throw error;
        return used;
      });
    const answer = await send(used, input, init);
    if (answer.status !== 401) return answer;
    const next = await renewOnce(used);
    if (next.token === used.token) return answer;
    await answer.body?.cancel();
    return send(next, input, init);
  };
}
