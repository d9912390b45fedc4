import { type Client } from '@muster/client';

/** Finds the caller's agent by its slug or name, ignoring case. Creates it if it does not exist. */
export async function findOrMakeAgent(
  client: Client,
  slugOrName: string,
): Promise<{ id: string; slug: string }> {
  const { member } = await client.session.identity();
  const isWanted = ({ slug, name }: { slug: string; name: string }): boolean =>
    [slug, name].some((word) => word.toLowerCase() === slugOrName.toLowerCase());
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Client['agents']['list']>> = await client.agents.list({
      ...{ memberId: member.id, limit: 200, ...(cursor !== null && { cursor }) },
    });
    const found = page.items.find(isWanted);
    if (found !== undefined) return found;
    cursor = page.nextCursor;
  } while (cursor !== null);
  return (await client.agents.create({ name: slugOrName })).agent;
}
