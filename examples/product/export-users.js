// Prints the users for `operator user import` as JSON lines, without the password hashes.
import { users } from './users.js';

for (const { id, email, username, name, timeZone } of users)
  console.log(
    JSON.stringify({
      external_id: id,
      email,
      email_verified: true,
      username,
      name,
      time_zone: timeZone,
    }),
  );
