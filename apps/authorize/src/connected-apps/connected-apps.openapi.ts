import { ReceivesForm, ShowsPage } from '../ui/page.openapi.js';

const TO_LIST = 'To the list, or to the login page if no user is logged in.';

export const ListOperation = ShowsPage({
  id: 'connectedApps',
  summary: 'Lists the connected applications',
  parameters: { page: { in: 'query', description: '1-based page number.' } },
  shows: 'The list.',
});

export const ConfirmRevokeOperation = ShowsPage({
  id: 'confirmRevoke',
  summary: 'Confirms the revocation of an application',
  parameters: { client_id: { in: 'query', required: true, description: 'The application.' } },
  shows: 'The confirmation page.',
  redirects: TO_LIST,
});

export const RevokeAppOperation = ReceivesForm({
  id: 'revokeApp',
  summary: 'Revokes the access of an application',
  description: '503 if the revocation is recorded but not yet complete; retry.',
  fields: { client_id: 'The application.' },
  continuesTo: TO_LIST,
});

export const ConfirmRevokeAllOperation = ShowsPage({
  id: 'confirmRevokeAll',
  summary: 'Confirms the revocation of every application',
  shows: 'The confirmation page.',
  redirects: TO_LIST,
});

export const RevokeAllOperation = ReceivesForm({
  id: 'revokeAllApps',
  summary: 'Revokes the access of every application',
  description: '503 if the revocation is recorded but not yet complete; retry.',
  continuesTo: TO_LIST,
});
