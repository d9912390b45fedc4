/** Lists files that others are working on too: the common path, the holder, and the kind of work. */
import { type StoryContext } from '@muster/contract';
import { Link } from '@tanstack/react-router';
import { lockTexts } from '../messages/locks.ts';
import { actorNameOf } from './people.tsx';

interface CollisionListProps {
  readonly storyId: string;
  readonly collisions: NonNullable<StoryContext['collisions']>;
}

export const CollisionList = ({ storyId, collisions }: CollisionListProps) => (
  <>
    <p className="state" data-tone="wait">
      {lockTexts.collides}
    </p>
    <ul className="side-list">
      {collisions.map(({ id, path, kind, holder, storyId: other }) => (
        <li key={`${id} ${path}`}>
          <code>{path}</code>{' '}
          <span className="muted">
            {holder === null ? '' : actorNameOf(holder)} {lockTexts.collision[kind]}
          </span>
          {other !== null && other !== storyId && (
            <Link to="/s/$storyKey" params={{ storyKey: other }} className="side-link">
              {lockTexts.theirStory}
            </Link>
          )}
        </li>
      ))}
    </ul>
  </>
);
