import { Injectable } from '@nestjs/common';
import { describeProblems } from '#error-guide/problems/describe-problem.js';
import { EventStore } from '#events/event.store.js';
import { type EventStream, EventStreamStore, type StreamSettings } from '#events/event-stream.store.js';
import { EVENT_TYPES, requestableEvent, REQUESTABLE_EVENTS } from '#events/event-type.js';
import { ENDPOINTS } from '#oauth/endpoints.js';
import { OAuthError } from '#oauth/oauth-error.js';
import type { Parameters } from '#oauth/parameters.js';
import { type Problem, problem } from '#platform/validation/problem.js';
import { fieldsOf, validate } from '#platform/validation/validate.js';
import { TokenConfiguration } from '../token.configuration.js';
import { HeaderSeal } from './header-seal.js';
import { DELIVERY_METHODS, DeliveryDto, StatusDto, StreamDto, VerificationDto } from './stream.dto.js';

/** In seconds. Section 8.1.1: `min_verification_interval`. */
const VERIFICATION_INTERVAL = 10;
const MAX_SUBJECT = 255;

type Receiver = Pick<StreamSettings, 'delivery' | 'endpointUrl' | 'authorizationHeader'>;

const POLLED: Receiver = { delivery: 'poll', endpointUrl: null, authorizationHeader: null };

/** The stream of a client, which the client manages itself (section 8.1 of the Shared Signals Framework 1.0). */
@Injectable()
export class StreamService {
  constructor(
    private readonly streams: EventStreamStore,
    private readonly events: EventStore,
    private readonly seal: HeaderSeal,
    private readonly configuration: TokenConfiguration,
  ) {}

  /** @throws OAuthError 409 if the client has a stream (section 8.1.1.1) */
  async create(clientId: string, body: Parameters | undefined) {
    const dto = read(StreamDto, body);
    const receiver = this.receiverOf(clientId, dto) ?? POLLED;
    const settings = { ...receiver, ...choicesOf(dto, null) };
    const stream = await this.streams.create(clientId, settings);
    if (!stream) throw new OAuthError('invalid_request', 409, 'event_stream_exists');
    return this.configurationOf(stream);
  }

  /** Without `stream_id`, returns a list (section 8.1.1.2). */
  async read(clientId: string, streamId: string | undefined) {
    if (streamId !== undefined) return this.configurationOf(await this.find(clientId, streamId));
    const stream = await this.streams.ofClient(clientId);
    return stream ? [this.configurationOf(stream)] : [];
  }

  /** @param isReplacement true resets absent members to their defaults (section 8.1.1.4); false keeps them (8.1.1.3) */
  async update(clientId: string, body: Parameters | undefined, isReplacement: boolean) {
    const stream = await this.find(clientId, idIn(body));
    const dto = read(StreamDto, body);
    // A receiver that stays is not written, because an operator may have changed it since it was read.
    const receiver = this.receiverOf(clientId, dto) ?? (isReplacement ? POLLED : {});
    const settings = { ...receiver, ...choicesOf(dto, isReplacement ? null : stream) };
    return this.configurationOf((await this.streams.update(stream.id, settings)) ?? stream);
  }

  async delete(clientId: string, streamId: string | undefined): Promise<void> {
    await this.streams.delete((await this.find(clientId, streamId)).id);
  }

  async status(clientId: string, streamId: string | undefined) {
    return stateOf(await this.find(clientId, streamId));
  }

  async setStatus(clientId: string, body: Parameters | undefined) {
    const stream = await this.find(clientId, idIn(body));
    const { status, reason: statusReason = null } = read(StatusDto, body);
    return stateOf((await this.streams.update(stream.id, { status, statusReason })) ?? stream);
  }

  /**
   * Removes a subject from the stream, or adds it again (section 8.1.3). Any subject gets the same answer, whether or
   * not there is such a user.
   */
  async setSubject(clientId: string, body: Parameters | undefined, isWanted: boolean): Promise<void> {
    const { id } = await this.find(clientId, idIn(body));
    const subject = this.subjectIn(body);
    if (isWanted) return this.streams.include(id, subject);
    if (await this.streams.exclude(id, subject)) return;
    throw new OAuthError('invalid_request', 400, 'event_subjects_exceeded');
  }

  /** Sends a verification event (section 8.1.4.2). @throws OAuthError 429 before VERIFICATION_INTERVAL has passed */
  async verify(clientId: string, body: Parameters | undefined): Promise<void> {
    const { id } = await this.find(clientId, idIn(body));
    const { state } = read(VerificationDto, body);
    if (!(await this.streams.takeVerification(id, VERIFICATION_INTERVAL)))
      throw OAuthError.tooManyRequests({
        id: 'event_limit_exceeded.verification',
        retryAfter: VERIFICATION_INTERVAL,
      });
    await this.events.record(id, 'verification', state === undefined ? {} : { state });
  }

  /** @throws OAuthError 404 if the client has no stream with this id */
  async find(clientId: string, streamId: string | undefined): Promise<EventStream> {
    const stream = await this.streams.ofClient(clientId);
    if (stream && stream.id === streamId) return stream;
    if (streamId === undefined) throw OAuthError.invalidRequest('event_stream_unnamed');
    throw new OAuthError('not_found', 404, 'event_stream_unknown');
  }

  /** @throws OAuthError 404 if the client has no stream that it polls */
  async pollable(clientId: string): Promise<EventStream> {
    const stream = await this.streams.ofClient(clientId);
    if (stream?.delivery === 'poll') return stream;
    const reason = stream ? 'event_stream_unknown.pushed' : 'event_stream_unknown';
    throw new OAuthError('not_found', 404, reason);
  }

  /** Section 7.1. @throws OAuthError not_found without ID_TOKEN_KEYS */
  transmitter() {
    const { BASE_URL, signingKeys } = this.configuration;
    if (signingKeys.isEmpty) throw new OAuthError('not_found', 404, 'not_found.openid_provider');
    return {
      spec_version: '1_0',
      issuer: BASE_URL,
      jwks_uri: BASE_URL + ENDPOINTS.jwks,
      delivery_methods_supported: Object.values(DELIVERY_METHODS),
      configuration_endpoint: BASE_URL + ENDPOINTS.eventStream,
      status_endpoint: BASE_URL + ENDPOINTS.eventStatus,
      add_subject_endpoint: BASE_URL + ENDPOINTS.addEventSubject,
      remove_subject_endpoint: BASE_URL + ENDPOINTS.removeEventSubject,
      verification_endpoint: BASE_URL + ENDPOINTS.verifyEventStream,
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6749' }],
      default_subjects: 'ALL',
    };
  }

  /** Returns null without `delivery`. */
  private receiverOf(clientId: string, { delivery }: StreamDto): Receiver | null {
    if (!delivery) return null;
    const { method, endpoint_url: url, authorization_header: header } = read(DeliveryDto, delivery);
    if (method === DELIVERY_METHODS.poll) return POLLED;
    if (url === undefined) throw refused([problem('receiver_url_invalid', 'endpoint_url')]);
    const authorizationHeader =
      header === undefined ? null : this.seal.seal(header, { clientId, endpointUrl: url });
    return { delivery: 'push', endpointUrl: url, authorizationHeader };
  }

  /** Accepts the format `iss_sub` of this issuer (RFC 9493 3.2.4). */
  private subjectIn(body: Parameters | undefined): string {
    const { format, iss, sub } = (body?.['subject'] ?? {}) as Readonly<Record<string, unknown>>;
    const isOurs = format === 'iss_sub' && iss === this.configuration.BASE_URL;
    if (isOurs && typeof sub === 'string' && sub !== '' && sub.length <= MAX_SUBJECT && !sub.includes('\0'))
      return sub;
    throw OAuthError.invalidRequest('event_subject_invalid');
  }

  private configurationOf(stream: EventStream) {
    const { BASE_URL } = this.configuration;
    const requested = stream.eventsRequested.map((type) => EVENT_TYPES[type]);
    return {
      stream_id: stream.id,
      iss: BASE_URL,
      aud: stream.clientId,
      delivery:
        stream.delivery === 'push'
          ? { method: DELIVERY_METHODS.push, endpoint_url: stream.endpointUrl ?? '' }
          : { method: DELIVERY_METHODS.poll, endpoint_url: BASE_URL + ENDPOINTS.eventPoll },
      events_supported: Object.values(EVENT_TYPES),
      events_requested: requested,
      events_delivered: requested,
      min_verification_interval: VERIFICATION_INTERVAL,
      ...(stream.description !== null && { description: stream.description }),
    };
  }
}

function choicesOf(
  { events_requested: events, description }: StreamDto,
  previous: EventStream | null,
): Pick<StreamSettings, 'eventsRequested' | 'description'> {
  return {
    eventsRequested: events
      ? events.flatMap((uri) => requestableEvent(uri) ?? [])
      : (previous?.eventsRequested ?? REQUESTABLE_EVENTS),
    description: description ?? previous?.description ?? null,
  };
}

function stateOf({ id, status, statusReason }: EventStream) {
  return { stream_id: id, status, ...(statusReason !== null && { reason: statusReason }) };
}

function idIn(body: Parameters | undefined): string | undefined {
  const id = body?.['stream_id'];
  return typeof id === 'string' ? id : undefined;
}

/** Ignores members that the class does not have. @throws OAuthError */
function read<Shape extends object>(shape: new () => Shape, body: object | undefined): Shape {
  const names = fieldsOf(shape);
  const known = Object.fromEntries(Object.entries(body ?? {}).filter(([name]) => names.includes(name)));
  const { dto, problems } = validate(shape, known);
  if (dto === null || problems.length > 0) throw refused(problems);
  return dto;
}

function refused(problems: readonly Problem[]): OAuthError {
  const description = describeProblems({ problems }, (field) => field).join('; ');
  return OAuthError.invalidRequest({ id: 'invalid_request.refused', description });
}
