/** Checks whether the installation lets clients sign in by OAuth, using its metadata (RFC 9728). */
import { z } from 'zod';

const Metadata = z.object({
  resource: z.string(),
  authorization_servers: z.array(z.string()).min(1),
});

/** The time limit for an answer. */
const metadataTimeoutMillis = 5000;

async function fetchMetadata(url: URL): Promise<z.infer<typeof Metadata> | undefined> {
  try {
    const answer = await fetch(url, {
      signal: AbortSignal.timeout(metadataTimeoutMillis),
      redirect: 'error',
    });
    const parsed = Metadata.safeParse(answer.ok ? await answer.json() : undefined);
    return parsed.data;
  } catch {
    return undefined;
  }
}

/**
 * Requests the metadata of the MCP server's protected resource, at the path of the resource and at the root.
 * Metadata of another resource does not count.
 */
export async function supportsOAuth(serverUrl: string): Promise<boolean> {
  const { origin, pathname } = new URL(serverUrl);
  for (const path of [
    `/.well-known/oauth-protected-resource${pathname}`,
    '/.well-known/oauth-protected-resource',
  ]) {
    const found = await fetchMetadata(new URL(path, origin));
    if (found !== undefined && URL.canParse(found.resource) && new URL(found.resource).origin === origin)
      return true;
  }
  return false;
}
