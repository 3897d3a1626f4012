import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/** Keeps valid tokens for a limited time, never past their expiry. The revocation feed evicts from it. */
final class TokenCache {
    private static final int MAX_ENTRIES = 10_000;

    private record Entry(Token token, Instant goodUntil) {}

    private final Duration lifetime;
    private final Map<String, Entry> entries = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Entry> eldest) {
            return size() > MAX_ENTRIES;
        }
    };
    private long evictions;
    private volatile BooleanSupplier trusted = () -> true;

    TokenCache(Duration lifetime) {
        this.lifetime = lifetime;
    }

    /** Allows the use of entries only while the condition is true. */
    void trustWhile(BooleanSupplier condition) {
        trusted = condition;
    }

    synchronized Optional<Token> get(String token) {
        if (!trusted.getAsBoolean()) return Optional.empty();
        Entry entry = entries.get(token);
        if (entry == null) return Optional.empty();
        if (Instant.now().isBefore(entry.goodUntil)) return Optional.of(entry.token);
        entries.remove(token);
        return Optional.empty();
    }

    /** Returns the number of evictions so far. Read it before sending a request, and pass it to {@link #put}. */
    synchronized long evictions() {
        return evictions;
    }

    /** Stores nothing if there was an eviction since the request was sent, which may have been for this token. */
    synchronized void put(String token, Token found, long evictionsBefore) {
        if (evictions != evictionsBefore) return;
        Instant goodUntil = Instant.now().plus(lifetime);
        entries.put(token, new Entry(found, found.expiresAt().isBefore(goodUntil) ? found.expiresAt() : goodUntil));
    }

    synchronized void evict(Predicate<Token> stale) {
        evictions++;
        entries.values().removeIf(entry -> stale.test(entry.token));
    }

    void clear() {
        evict(token -> true);
    }
}
