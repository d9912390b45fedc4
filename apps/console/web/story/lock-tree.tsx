/** The locks around a story, and collisions with others in its files. */
import { type Lock, type StoryContext } from '@muster/contract';
import { useNow } from '../components/clock.tsx';
import { CollisionList } from '../components/collisions.tsx';
import { actorNameOf } from '../components/people.tsx';
import { ResourceTree } from '../components/tree.tsx';
import { formatDuration } from '../messages/index.ts';
import { lockTexts } from '../messages/locks.ts';

interface LockTreeProps {
  readonly storyId: string;
  readonly locks: readonly Lock[];
  readonly collisions: NonNullable<StoryContext['collisions']>;
}

export function LockTree({ storyId, locks, collisions }: LockTreeProps) {
  const now = useNow();
  return (
    <>
      {locks.length > 0 && (
        <ResourceTree
          locks={locks}
          renderLock={(lock) => (
            <span key={lock.id} className="lock" data-mine={lock.storyId === storyId || undefined}>
              {lockTexts.of(actorNameOf(lock.holder), formatDuration(Date.parse(lock.expiresAt) - now))}
              {lock.mode === 'shared' && ` · ${lockTexts.shared}`}
            </span>
          )}
        />
      )}
      {collisions.length > 0 && <CollisionList storyId={storyId} collisions={collisions} />}
    </>
  );
}
