/** A menu of the saved views, with what one can do with the one that is shown. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type View } from '@muster/contract';
import { type BoardSearch } from '../board/filter.ts';
import { useClient, useConsole, useIdentity } from '../data/context.ts';
import { readDefaultView, storeDefaultView } from '../data/default-views.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { projectsQuery } from '../data/queries.ts';
import { useConfirmDialog } from '../components/ask.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Icon } from '../components/icons.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { showNotice } from '../components/notices.tsx';
import { useWriteCall } from '../components/write.ts';
import { useIsAdmin, widestScope } from '../settings/rights.ts';
import { t } from '../messages/index.ts';
import { storyViewTexts } from '../messages/story-views.ts';
import { type DisplayMenuProps } from './display-menu.tsx';
import { isModified, linkOf, toSearch, toViewFields, viewsQuery } from './saved-views.ts';

const texts = storyViewTexts.views;

interface ViewFormProps {
  readonly title: string;
  readonly name: string;
  /** True if the view is shared; undefined if that cannot be chosen. */
  readonly isShared: boolean | undefined;
  readonly sharedWith: string;
  /** Returns true if the view was saved. */
  readonly onSave: (name: string, isShared: boolean) => Promise<boolean>;
  readonly onClose: () => void;
}

function ViewForm({ title, name, isShared, sharedWith, onSave, onClose }: ViewFormProps) {
  const [text, setText] = useState(name);
  const [shared, setShared] = useState(isShared ?? false);
  const [isBusy, setBusy] = useState(false);
  const save = async (): Promise<void> => {
    setBusy(true);
    const isSaved = await onSave(text.trim(), shared);
    setBusy(false);
    if (isSaved) onClose();
  };
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        className="dialog-body"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '' && !isBusy) void save();
        }}
      >
        <h2>{title}</h2>
        <label className="label">
          {texts.name}
          <input
            className="field"
            value={text}
            maxLength={120}
            required
            autoFocus
            onChange={({ target }) => setText(target.value)}
          />
        </label>
        {isShared !== undefined && (
          <label className="switch">
            <input type="checkbox" checked={shared} onChange={({ target }) => setShared(target.checked)} />
            {sharedWith}
          </label>
        )}
        <div className="dialog-foot">
          <button type="button" className="button" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" className="button" data-kind="main" disabled={isBusy}>
            {texts.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Returns what the viewer may do with views of this project, or of all projects. */
function useViewRights(projectKey: string | null) {
  const { member, token } = useIdentity();
  const { isLead } = useProjectPermissions(projectKey ?? '');
  const isAdmin = useIsAdmin();
  const mayWrite = widestScope(token.scopes) !== 'read';
  const mayShare = mayWrite && (isAdmin || (projectKey !== null && isLead));
  return {
    ...{ mayWrite, mayShare },
    mayChange: (view: View): boolean =>
      view.shared ? mayShare : mayWrite && (view.owner.id === member.id || mayShare),
  };
}

/** The view with which the page opens, in this browser. */
function useDefaultView(projectKey: string | null) {
  const { draftOwnerId } = useConsole().session;
  const [id, setId] = useState(() => readDefaultView(draftOwnerId, projectKey));
  const choose = (viewId: string | null): void => {
    storeDefaultView(draftOwnerId, projectKey, viewId);
    setId(viewId);
  };
  return { id, choose };
}

type OpenDialog = 'save' | 'edit' | null;

/** Returns the views of a project, or of all projects. */
function useViews(projectKey: string | null): {
  readonly views: readonly View[];
  readonly isPending: boolean;
} {
  const client = useClient();
  const { data, isPending } = useQuery(viewsQuery(client));
  const projects = useQuery(projectsQuery(client));
  const projectId =
    projectKey === null ? null : (projects.data?.find(({ key }) => key === projectKey)?.id ?? '');
  return { views: data?.filter((view) => view.projectId === projectId) ?? [], isPending };
}

async function copyLink(projectKey: string | null, view: View): Promise<void> {
  try {
    await navigator.clipboard.writeText(linkOf(projectKey, view));
    showNotice({ tone: 'good', title: texts.copied });
  } catch {
    showNotice({ tone: 'bad', title: texts.notCopied, body: linkOf(projectKey, view) });
  }
}

interface ViewItemOptions extends DisplayMenuProps {
  readonly views: readonly View[];
  readonly active: View | undefined;
  readonly rights: ReturnType<typeof useViewRights>;
  readonly defaultView: ReturnType<typeof useDefaultView>;
  readonly onOpen: (search: BoardSearch) => void;
  readonly onDialog: (dialog: OpenDialog) => void;
  readonly onDelete: () => void;
  readonly onUpdate: () => void;
}

/** Returns the entries for the view that is shown. */
function activeViewItems(view: View, options: ViewItemOptions): MenuItem[] {
  const { projectKey, search, rights, defaultView, onDialog, onDelete, onUpdate } = options;
  const mayChange = rights.mayChange(view);
  const isDefault = defaultView.id === view.id;
  return [
    ...(mayChange && isModified(search, view)
      ? [{ id: 'update', name: texts.update(view.name), run: onUpdate }]
      : []),
    ...(mayChange ? [{ id: 'edit', name: texts.edit, run: () => onDialog('edit') }] : []),
    { id: 'copy', name: texts.copy, run: () => void copyLink(projectKey, view) },
    {
      ...{ id: 'default', name: isDefault ? texts.noDefault : texts.makeDefault },
      run: () => defaultView.choose(isDefault ? null : view.id),
    },
    ...(mayChange ? [{ id: 'delete', name: texts.deleteOf(view.name), run: onDelete }] : []),
  ];
}

function viewItems(options: ViewItemOptions): MenuItem[] {
  const { projectKey, views, active, rights, onOpen, onDialog } = options;
  const actions = [
    ...(rights.mayWrite ? [{ id: 'save', name: `${texts.saveAs}…`, run: () => onDialog('save') }] : []),
    ...(active === undefined ? [] : activeViewItems(active, options)),
  ];
  return [
    {
      ...{ id: 'plain', name: projectKey === null ? storyViewTexts.allStories : t.board.title },
      isChosen: active === undefined,
      run: () => onOpen({ layout: projectKey === null ? 'list' : 'board' }),
    },
    ...views.map((view) => ({
      ...{ id: view.id, name: view.shared ? texts.shared(view.name) : view.name },
      ...{ isChosen: view.id === active?.id, run: () => onOpen(toSearch(view)) },
    })),
    ...actions.map((action, index) => ({ ...action, isSeparated: index === 0 })),
  ];
}

export function ViewMenu(props: DisplayMenuProps) {
  const { projectKey, search } = props;
  const client = useClient();
  const navigate = useNavigate();
  const { views } = useViews(projectKey);
  const rights = useViewRights(projectKey);
  const defaultView = useDefaultView(projectKey);
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const write = useWriteCall({
    ...{ queryKeys: [['views']], failureTitle: texts.failed, conflictMessage: texts.conflict },
  });
  const active = views.find(({ id }) => id === search.view);
  const fields = toViewFields(search, projectKey === null);
  const onOpen = (next: BoardSearch): void => {
    if (projectKey === null) void navigate({ to: '/stories', search: next });
    else void navigate({ to: '/p/$projectKey', params: { projectKey }, search: next });
  };
  const create = (name: string, shared: boolean): Promise<boolean> =>
    write(async () => {
      const { view } = await client.views.create({ name, shared, projectId: projectKey, ...fields });
      onOpen(toSearch(view));
    }, texts.saved(name));
  const update = async (
    change: { name?: string; shared?: boolean } & Partial<typeof fields>,
  ): Promise<boolean> =>
    active !== undefined &&
    (await write(
      () => client.views.update({ viewId: active.id, expectedVersion: active.version, ...change }),
      texts.saved(change.name ?? active.name),
    ));
  const deleteView = async ({ id: viewId, name }: View): Promise<void> => {
    if (!(await write(() => client.views.delete({ viewId }), texts.deleted(name)))) return;
    if (defaultView.id === viewId) defaultView.choose(null);
    onOpen({ layout: projectKey === null ? 'list' : 'board' });
  };
  const { open: askToDelete, dialog: deletion } = useConfirmDialog({
    actionLabel: texts.delete,
    title: texts.deleteTitle(active?.name ?? ''),
    body: <p>{active?.shared === true ? texts.deleteShared : texts.deleteOwn}</p>,
    // The dialog closes immediately, because it names the view.
    onConfirm: async () => active && void deleteView(active),
  });
  const sharedWith = projectKey === null ? texts.shareWithAll : texts.shareWithProject;
  const close = (): void => setDialog(null);
  return (
    <>
      <Menu
        label={active === undefined ? texts.title : texts.current(active.name)}
        items={() =>
          viewItems({
            ...{ ...props, views, active, rights, defaultView, onOpen },
            ...{ onDialog: setDialog, onDelete: askToDelete, onUpdate: () => void update(fields) },
          })
        }
      >
        <span className="cut view-name">{active?.name ?? texts.title}</span>
        {active !== undefined && isModified(search, active) && (
          <span className="view-modified" title={texts.modified}>
            <span className="sr-only">{texts.modified}</span>
          </span>
        )}
        <Icon name="down" size={12} />
      </Menu>
      {dialog === 'save' && (
        <ViewForm
          {...{ title: texts.saveAs, name: '', sharedWith, onSave: create, onClose: close }}
          isShared={rights.mayShare ? false : undefined}
        />
      )}
      {dialog === 'edit' && active !== undefined && (
        <ViewForm
          {...{ title: texts.edit, name: active.name, sharedWith, onClose: close }}
          isShared={rights.mayShare ? active.shared : undefined}
          onSave={(name, shared) => update({ name, ...(rights.mayShare && { shared }) })}
        />
      )}
      {deletion}
    </>
  );
}
