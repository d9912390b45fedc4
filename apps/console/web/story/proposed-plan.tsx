import { Link } from '@tanstack/react-router';
import { findProposedPlans } from '@muster/import-files/plan-proposals';
import { storyTexts } from '../messages/story.ts';
import { projectKeyOf } from '../data/story-key.ts';

interface ProposedPlanLinkProps {
  readonly storyKey: string;
  readonly texts: readonly (string | null)[];
}

/** Leads to the preview of a plan if one of the texts of a story proposes one. */
export function ProposedPlanLink({ storyKey, texts }: ProposedPlanLinkProps) {
  if (!texts.some((text) => text !== null && findProposedPlans(text).length > 0)) return null;
  return (
    <p>
      <Link
        to="/p/$projectKey/apply-plan"
        params={{ projectKey: projectKeyOf(storyKey) }}
        search={{ story: storyKey }}
        className="button"
      >
        {storyTexts.reviewPlan}
      </Link>
    </p>
  );
}
