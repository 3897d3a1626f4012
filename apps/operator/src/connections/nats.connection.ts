export { withNats } from '#administration/running-services/nats.js';
