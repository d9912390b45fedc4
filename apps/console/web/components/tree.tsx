/** Shows locks as the folder tree of a repository. */
import { type ReactNode } from 'react';
import { type Lock } from '@muster/registry';

interface TreeNode {
  readonly name: string;
  readonly children: Map<string, TreeNode>;
  readonly locks: Lock[];
}

const nodeOf = (name: string): TreeNode => ({ name, children: new Map(), locks: [] });

function treeOf(locks: readonly Lock[]): TreeNode {
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

type RenderLock = (lock: Lock) => ReactNode;

/** A folder or file. Folders that contain only another folder share its line. */
function TreeBranch({ node, say }: { readonly node: TreeNode; readonly say: RenderLock }) {
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
      {shown.locks.map(say)}
      {shown.children.size > 0 && (
        <ul>
          {[...shown.children.values()].map((child) => (
            <TreeBranch key={child.name} node={child} say={say} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Renders locks as a tree of folders and files. `say` renders the details of one lock next to its path. */
export const ResourceTree = ({
  locks,
  say,
}: {
  readonly locks: readonly Lock[];
  readonly say: RenderLock;
}) => (
  <ul className="tree">
    {[...treeOf(locks).children.values()].map((node) => (
      <TreeBranch key={node.name} node={node} say={say} />
    ))}
  </ul>
);
