/** What waits for whoever looks, each with the one thing to do about it. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ListedExecution } from '@muster/registry';
import { useClient, useIdentity } from '../data/context.ts';
import { isToldAlone } from '../data/needs.ts';
import { inboxQuery, projectsQuery, reviewsQuery, reworkQuery, workQuery } from '../data/queries.ts';
import { Icon } from '../parts/icons.tsx';
import { OfferAct, OfferFact } from '../parts/offer.tsx';
import { Avatar, nameOf } from '../parts/people.tsx';
import { Group, Row } from '../parts/row.tsx';
import { Empty, Failed, Loading } from '../parts/states.tsx';
import { useTitle } from '../parts/title.ts';
import { toneFor } from '../parts/work.tsx';
import { useMayMakeProjects } from '../settings/rights.ts';
import { ago, t } from '../texts/index.ts';

const Look = ({ storyKey, name }: { readonly storyKey: string | undefined; readonly name: string }) =>
  storyKey === undefined ? null : (
    <Link to="/s/$storyKey" params={{ storyKey }} className="button">
      {name}
      <span className="sr-only"> {storyKey}</span>
    </Link>
  );

function Waiting({
  execution,
  why,
  act,
}: {
  readonly execution: ListedExecution;
  readonly why: string;
  readonly act: string;
}) {
  const { story, group, lease, updatedAt, state, needsRework } = execution;
  return (
    <Row
      lead={
        <span className="state" data-tone={toneFor(state, needsRework)}>
          <Icon name="warn" />
        </span>
      }
      storyKey={story?.key ?? null}
      title={story?.title ?? group?.name ?? ''}
      fact={[why, lease === null ? undefined : nameOf(lease.holder), ago(updatedAt)]
        .filter((part) => part !== undefined)
        .join(' · ')}
      act={<Look storyKey={story?.key} name={act} />}
    />
  );
}

function Offered({ execution }: { readonly execution: ListedExecution }) {
  const { story, group, offer } = execution;
  return (
    <Row
      lead={
        <span className="state" data-tone="wait">
          <Icon name="inbox" />
        </span>
      }
      storyKey={story?.key ?? null}
      title={story?.title ?? group?.name ?? ''}
      fact={offer !== null && <OfferFact offer={offer} namesAddressee={false} />}
      act={
        <>
          <Look storyKey={story?.key} name={t.now.look} />
          <OfferAct
            execution={execution}
            storyKey={story?.key ?? null}
            name={story?.key ?? group?.name ?? ''}
          />
        </>
      }
    />
  );
}

export function NowPage() {
  useTitle(t.nav.now);
  const client = useClient();
  const { member, agent } = useIdentity();
  const work = useQuery(workQuery(client));
  const projects = useQuery(projectsQuery(client));
  const mayMakeProjects = useMayMakeProjects();
  const rework = useQuery(reworkQuery(client));
  const reviews = useQuery(reviewsQuery(client));
  // An agent is told nothing here.
  const inbox = useQuery({ ...inboxQuery(client), enabled: agent === null });
  const all = [work, rework, reviews, ...(agent === null ? [inbox] : [])];
  const failed = all.find(({ isError }) => isError);
  const told = inbox.data?.filter(isToldAlone) ?? [];
  const offers = work.data?.filter(({ offer }) => offer?.toMemberId === member.id) ?? [];
  const questions = work.data?.filter(({ state }) => state === 'waiting_input') ?? [];
  const stalled = work.data?.filter(({ state }) => state === 'stalled') ?? [];
  const isReady = all.every(({ isPending }) => !isPending);
  const isEmpty =
    isReady &&
    [told, offers, questions, stalled, rework.data ?? [], reviews.data ?? []].every(
      ({ length }) => length === 0,
    );
  return (
    <>
      <header className="page-head">
        <h1>{t.nav.now}</h1>
      </header>
      <div className="page">
        <div className="page-column">
          {failed !== undefined && (
            <Failed error={failed.error} again={() => all.forEach((query) => void query.refetch())} />
          )}
          {failed === undefined && !isReady && <Loading label={t.now.loading} />}
          {failed === undefined && isEmpty && (
            <Empty title={t.now.empty}>
              <p>{t.now.emptyWhy}</p>
              {projects.data?.length === 0 && mayMakeProjects && (
                <Link to="/new-project" className="button" data-kind="main">
                  {t.nav.newProject}
                </Link>
              )}
            </Empty>
          )}
          {questions.length > 0 && (
            <Group id="questions" title={t.now.questions}>
              {questions.map((one) => (
                <Waiting key={one.id} execution={one} why={t.now.asks} act={t.now.answer} />
              ))}
            </Group>
          )}
          {told.length > 0 && (
            <Group id="told" title={t.now.told}>
              {told.map(({ id, actor, title, body, subject, createdAt }) => (
                <Row
                  key={id}
                  lead={<Avatar name={actor.name} kind={actor.kind} />}
                  storyKey={subject?.type === 'story' ? subject.key : null}
                  title={title}
                  fact={[ago(createdAt), body].filter((part) => part !== '').join(' · ')}
                  act={
                    subject?.type === 'story' && subject.key !== null ? (
                      <Look storyKey={subject.key} name={t.now.look} />
                    ) : (
                      <Link to="/inbox" className="button">
                        {t.now.look}
                        <span className="sr-only"> {title}</span>
                      </Link>
                    )
                  }
                />
              ))}
            </Group>
          )}
          {offers.length > 0 && (
            <Group id="offers" title={t.now.offers}>
              {offers.map((one) => (
                <Offered key={one.id} execution={one} />
              ))}
            </Group>
          )}
          {reviews.data !== undefined && reviews.data.length > 0 && (
            <Group id="reviews" title={t.now.reviews}>
              {reviews.data.map((review) => (
                <Row
                  key={review.id}
                  lead={
                    <span className="state" data-tone="look">
                      <Icon name="eye" />
                    </span>
                  }
                  storyKey={review.storyKey}
                  title={review.storyTitle}
                  fact={t.now.asked(ago(review.createdAt))}
                  act={<Look storyKey={review.storyKey} name={t.now.review} />}
                />
              ))}
            </Group>
          )}
          {stalled.length > 0 && (
            <Group id="stalled" title={t.now.stalled}>
              {stalled.map((one) => (
                <Waiting key={one.id} execution={one} why={t.now.expired} act={t.now.look} />
              ))}
            </Group>
          )}
          {rework.data !== undefined && rework.data.length > 0 && (
            <Group id="rework" title={t.now.rework}>
              {rework.data.map((one) => (
                <Waiting key={one.id} execution={one} why={t.needsRework} act={t.now.look} />
              ))}
            </Group>
          )}
        </div>
      </div>
    </>
  );
}
