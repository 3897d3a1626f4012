import { BadRequestException, Body, Controller, Get, Post, UseGuards } from '@nestjs/common';
import { CurrentToken, RequireScope, TokenGuard, type TokenInfo } from '@scheduling-oauth/introspection';

interface Booking {
  readonly id: number;
  readonly title: string;
  /** Client id of the application that created the booking. */
  readonly by: string;
}

/** Serves the bookings of the user who granted the token. */
@Controller('bookings')
@UseGuards(TokenGuard)
export class BookingsController {
  private readonly byUser = new Map<number, Booking[]>();

  @Get()
  @RequireScope('bookings:read')
  list(@CurrentToken() { userId }: TokenInfo): Booking[] {
    return this.byUser.get(userId) ?? [];
  }

  @Post()
  @RequireScope('bookings:write')
  add(@CurrentToken() { userId, clientId }: TokenInfo, @Body('title') title: unknown): Booking {
    if (typeof title !== 'string' || title === '') throw new BadRequestException('title must be a text');
    const bookings = this.byUser.get(userId) ?? [];
    const booking = { id: bookings.length + 1, title, by: clientId };
    this.byUser.set(userId, [...bookings, booking]);
    return booking;
  }
}
