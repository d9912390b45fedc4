import { projectRank } from '@muster/registry';

/** Of who brings a project into being. */
export const leadRank = projectRank('lead');
