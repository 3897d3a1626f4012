// The product's second API, without NestJS. The first one is ../bookings-api.
import express from 'express';
import { requireScope } from './require-scope.js';

export function createNotesApi(introspection) {
  const api = express();
  const notes = new Map();

  // `external_id` is the product's own id of the user.
  api.get('/notes', requireScope('notes:read', introspection), ({ token }, res) =>
    res.json({ user: token.external_id, notes: notes.get(token.external_id) ?? [] }),
  );
  api.post('/notes', requireScope('notes:write', introspection), express.json(), ({ token, body }, res) => {
    if (typeof body?.text !== 'string') return res.status(400).end();
    notes.set(token.external_id, [...(notes.get(token.external_id) ?? []), body.text]);
    return res.status(201).json({ text: body.text });
  });
  return api;
}
