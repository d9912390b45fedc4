/** What is locked, as the folders of a repository, and where others are at the same files. */
import { type Lock, type StoryContext } from '@muster/registry';
import { Link } from '@tanstack/react-router';
import { useNow } from '../parts/clock.tsx';
import { nameOf } from '../parts/people.tsx';
import { span } from '../texts/index.ts';
import { w } from '../texts/story.ts';

interface Node {
  readonly name: string;
  readonly children: Map<string, Node>;
  readonly locks: Lock[];
}

const nodeOf = (name: string): Node => ({ name, children: new Map(), locks: [] });

/** Folders that hold nothing but one another stand on one line. */
function treeOf(locks: readonly Lock[]): Node {
  const root = nodeOf('');
  for (const lock of locks)
    for (const resource of lock.resources) {
      const parts = resource.startsWith('name:') ? [resource] : resource.split('/');
      let at = root;
      for (const part of parts) {
        const next = at.children.get(part) ?? nodeOf(part);
        at.children.set(part, next);
        at = next;
      }
      at.locks.push(lock);
    }
  return root;
}

function Branch({ node, storyId }: { readonly node: Node; readonly storyId: string }) {
  const now = useNow();
  let { name } = node;
  let shown = node;
  for (;;) {
    const [only, ...others] = shown.children.values();
    if (only === undefined || others.length > 0 || shown.locks.length > 0) break;
    name = `${name}/${only.name}`;
    shown = only;
  }
  return (
    <li>
      <code>{name}</code>
      {shown.locks.map((lock) => (
        <span key={lock.id} className="lock" data-mine={lock.storyId === storyId || undefined}>
          {w.lockOf(nameOf(lock.holder), span(Date.parse(lock.expiresAt) - now))}
          {lock.mode === 'shared' && ` · ${w.shared}`}
        </span>
      ))}
      {shown.children.size > 0 && (
        <ul>
          {[...shown.children.values()].map((child) => (
            <Branch key={child.name} node={child} storyId={storyId} />
          ))}
        </ul>
      )}
    </li>
  );
}

export function LockTree({
  storyId,
  locks,
  collisions,
}: {
  readonly storyId: string;
  readonly locks: readonly Lock[];
  readonly collisions: NonNullable<StoryContext['collisions']>;
}) {
  return (
    <>
      <ul className="tree">
        {[...treeOf(locks).children.values()].map((node) => (
          <Branch key={node.name} node={node} storyId={storyId} />
        ))}
      </ul>
      {collisions.length > 0 && (
        <>
          <p className="state" data-tone="wait">
            {w.collides}
          </p>
          <ul className="side-list">
            {collisions.map(({ id, path, kind, holder, storyId: other }) => (
              <li key={`${id} ${path}`}>
                <code>{path}</code>{' '}
                <span className="muted">
                  {holder === null ? '' : nameOf(holder)} {w.collision[kind]}
                </span>
                {other !== null && other !== storyId && (
                  <Link to="/s/$storyKey" params={{ storyKey: other }} className="side-link">
                    {w.collides}
                  </Link>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
