/** Who else has the story open. As long as its page is seen, it says so itself. */
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Client } from '@muster/client';
import { useClient, useIdentity } from '../data/context.ts';
import { Avatar } from '../parts/people.tsx';
import { widestOf } from '../settings/rights.ts';
import { exactly } from '../texts/index.ts';
import { w } from '../texts/story.ts';

/** What is said fades after 15 minutes; others appear and leave within this. */
const againMillis = 60_000;
/** Each window looks at a story of its own. */
const deviceId = `console-${crypto.randomUUID()}`;
/** The story of this window's page; null where it shows none. */
let shown: string | null = null;

/** Where no other story took its place, nothing is looked at any more. */
function leave({ stories }: Client, storyKey: string): void {
  if (shown !== storyKey) return;
  shown = null;
  setTimeout(() => {
    if (shown === null) stories.select({ storyId: null, deviceId }).catch(() => undefined);
  });
}

export function AlsoHere({ storyKey }: { readonly storyKey: string }) {
  const client = useClient();
  const { token } = useIdentity();
  const maySay = widestOf(token.scopes) !== 'read';
  const { data = [] } = useQuery({
    queryKey: ['also here', storyKey],
    queryFn: async () => (await client.stories.select({ storyId: storyKey, deviceId })).others,
    enabled: maySay,
    ...{ staleTime: 0, gcTime: 0, retry: false },
    ...{ refetchInterval: againMillis, refetchOnWindowFocus: 'always' as const },
  });
  useEffect(() => {
    if (!maySay) return;
    shown = storyKey;
    return () => leave(client, storyKey);
  }, [client, storyKey, maySay]);
  if (data.length === 0) return null;
  return (
    <span className="also-here">
      {data.map(({ member: { id, name }, since }) => (
        <span key={id} title={w.lookingSince(name, exactly(since))}>
          <Avatar name={name} kind="member" />
        </span>
      ))}
      <span className="muted cut">{w.alsoHere(data.map(({ member }) => member.name))}</span>
    </span>
  );
}
