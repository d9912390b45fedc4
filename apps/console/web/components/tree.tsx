/** Shows locks as the folder tree of a repository. */
import { type ReactNode } from 'react';
import { type Lock } from '@muster/contract';

interface TreeNode {
  readonly name: string;
  readonly children: Map<string, TreeNode>;
  readonly locks: Lock[];
}

const createNode = (name: string): TreeNode => ({ name, children: new Map(), locks: [] });

function buildLockTree(locks: readonly Lock[]): TreeNode {
  const root = createNode('');
  for (const lock of locks)
    for (const resource of lock.resources) {
      const parts = resource.startsWith('name:') ? [resource] : resource.split('/');
      let at = root;
      for (const part of parts) {
        const next = at.children.get(part) ?? createNode(part);
        at.children.set(part, next);
        at = next;
      }
      at.locks.push(lock);
    }
  return root;
}

type RenderLock = (lock: Lock) => ReactNode;

/** A folder or file. Folders that contain only another folder share its line. */
function TreeBranch({ node, say: renderLock }: { readonly node: TreeNode; readonly say: RenderLock }) {
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
      {shown.locks.map(renderLock)}
      {shown.children.size > 0 && (
        <ul>
          {[...shown.children.values()].map((child) => (
            <TreeBranch key={child.name} node={child} say={renderLock} />
          ))}
        </ul>
      )}
    </li>
  );
}

interface ResourceTreeProps {
  readonly locks: readonly Lock[];
  readonly renderLock: RenderLock;
}

/** Renders locks as a tree of folders and files. `say` renders the details of one lock next to its path. */
export const ResourceTree = ({ locks, renderLock }: ResourceTreeProps) => (
  <ul className="tree">
    {[...buildLockTree(locks).children.values()].map((node) => (
      <TreeBranch key={node.name} node={node} say={renderLock} />
    ))}
  </ul>
);
