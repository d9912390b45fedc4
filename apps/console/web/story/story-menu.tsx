/** Follows or mutes the story, and deletes it. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type Story } from '@muster/contract';
import { useClient, useIdentity } from '../data/context.ts';
import { relatedQuery } from '../data/queries.ts';
import { useProjectPermissions } from '../data/roles.ts';
import { Icon } from '../components/icons.tsx';
import { Menu } from '../components/menu.tsx';
import { announceToScreenReader, errorText, showNotice } from '../components/notices.tsx';
import { offerUndo } from '../components/undo.ts';
import { storyMenuTexts } from '../messages/story.ts';
import { widestScope } from '../settings/rights.ts';
import { useRelatedStories } from './structure.tsx';

type ShownStory = Pick<Story, 'id' | 'key' | 'projectId'>;

function SubscribeButton({ story: { key } }: { readonly story: ShownStory }) {
  const client = useClient();
  const queries = useQueryClient();
  const related = useRelatedStories(key);
  if (related === undefined) return null;
  const isFollowing = related.subscribed === true;
  const subscribe = async (subscribed: boolean): Promise<void> => {
    const { queryKey } = relatedQuery(client, key);
    try {
      await client.stories.subscribe({ storyId: key, subscribed });
      queries.setQueryData(queryKey, (last) => last && { ...last, subscribed });
      announceToScreenReader(subscribed ? storyMenuTexts.following(key) : storyMenuTexts.muted(key));
    } catch (error) {
      showNotice({ tone: 'bad', title: storyMenuTexts.notSubscribed(key), body: errorText(error) });
    }
  };
  return (
    <button
      type="button"
      className="button"
      title={isFollowing ? storyMenuTexts.unsubscribeHint : storyMenuTexts.subscribeHint}
      onClick={() => void subscribe(!isFollowing)}
    >
      {isFollowing ? storyMenuTexts.unsubscribe : storyMenuTexts.subscribe}
    </button>
  );
}

/** The actions at the top of a story's page. */
export function StoryMenu({
  story,
  projectKey,
}: {
  readonly story: ShownStory;
  readonly projectKey: string;
}) {
  const client = useClient();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const { agent, token } = useIdentity();
  const { isLead } = useProjectPermissions(story.projectId);
  const { id: storyId, key } = story;
  const remove = async (): Promise<void> => {
    try {
      await client.stories.delete({ storyId });
    } catch (error) {
      showNotice({ tone: 'bad', title: storyMenuTexts.notDeleted(key), body: errorText(error) });
      return;
    }
    await navigate({ to: '/p/$projectKey', params: { projectKey } });
    queries.removeQueries({ queryKey: ['story', key] });
    offerUndo({
      ...{ key, title: storyMenuTexts.deleted(key) },
      undo: async () => {
        await client.stories.restore({ storyId });
        return undefined;
      },
    });
  };
  return (
    <>
      <span className="grow" />
      {agent === null && widestScope(token.scopes) !== 'read' && <SubscribeButton story={story} />}
      {isLead && (
        <Menu
          label={storyMenuTexts.more}
          className="icon-button"
          items={[{ id: 'delete', name: storyMenuTexts.delete, run: () => void remove() }]}
        >
          <Icon name="more" />
        </Menu>
      )}
    </>
  );
}
