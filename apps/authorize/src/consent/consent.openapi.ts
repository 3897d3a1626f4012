import { CSRF_TOKEN, formOf } from '../ui/page.openapi.js';

export const DECISION_FORM = {
  ...formOf(
    {
      ...CSRF_TOKEN,
      decision: '`allow` or `deny`.',
      form: 'Hidden field: the same form gets the same answer again.',
      required_scopes: 'Hidden field: the required scopes that the page listed.',
    },
    ['csrf_token', 'decision'],
  ),
  description: 'Also `allow:<scope>` with the value `yes` for each optional scope that the user selected.',
};
